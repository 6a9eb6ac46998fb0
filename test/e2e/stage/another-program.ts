import { fetch } from 'undici'
import { expect } from 'vitest'
import type { Stage } from './stage.ts'

/** What another program does with the same key, which must succeed. `path`: below {base_url}. */
// biome-ignore lint/suspicious/noExplicitAny: tests say which fields they expect
export async function call(stage: Stage, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(stage.baseUrl + path, {
    method,
    headers: { 'x-api-key': stage.key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  expect(answer).toMatchObject({ success: true })
  return answer
}

/** The id of the image at this path on the host. */
export async function idOf(stage: Stage, path: string): Promise<string> {
  const line = (await stage.listing()).find(entry => entry.startsWith(`${path} `))!
  return line.slice(path.length + 1)
}
