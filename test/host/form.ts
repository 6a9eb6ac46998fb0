import { type Dispatcher, request } from 'undici'
import { expect } from 'vitest'
import type { TestPicture } from '../pictures.ts'
import { KEY } from './choices.ts'
import { declaration, type TestHost } from './test-host.ts'

/** Forms written out by hand, for what no client would send. */

export const FORM = 'multipart/form-data; boundary=edge'

export interface Part {
  head: string
  content: string | Uint8Array
}

export function form(...parts: Part[]): Buffer {
  const pieces = parts.flatMap(({ head, content }) => [`--edge\r\n${head}\r\n\r\n`, content, '\r\n'])
  return Buffer.concat([...pieces, '--edge--\r\n'].map(piece => Buffer.from(piece as Uint8Array)))
}

export function filePart(content: string | Uint8Array): Part {
  return { head: 'Content-Disposition: form-data; name="file"; filename="a.png"', content }
}

/** Both steps and the delivery, over connections of one's own. Checks that what is delivered was sent. */
export async function uploadBy(dispatcher: Dispatcher, { running }: TestHost, picture: TestPicture) {
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' }
  const body = JSON.stringify(declaration(picture))
  const asked = await request(`${running.baseUrl}/upload`, { method: 'POST', headers, body, dispatcher })
  const { data } = (await asked.body.json()) as { data: { upload_url: string; cdn_url: string } }
  const sent = await request(data.upload_url, {
    method: 'POST',
    headers: { 'Content-Type': FORM },
    body: form(filePart(picture.bytes)),
    dispatcher,
  })
  expect(await sent.body.json()).toMatchObject({ success: true, cdn_url: data.cdn_url })
  const delivered = await request(data.cdn_url, { dispatcher })
  expect(Buffer.from(await delivered.body.arrayBuffer())).toEqual(picture.bytes)
  return { data }
}
