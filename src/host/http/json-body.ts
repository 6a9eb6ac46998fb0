import type { IncomingMessage } from 'node:http'
import { DECIDED_CODES, DECISIONS } from '../../protocol/decisions.ts'
import { Refusal } from '../refusal.ts'
import { chunksOf } from './body-chunks.ts'

/** The JSON in a request's body (§4.1, §4.3, §4.6). Refuses what is none and what is too long, without reading it all. */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(incoming.headers['content-type'] ?? ''))
    throw new Refusal(DECIDED_CODES.badBody, 'The Content-Type must be application/json.')
  const text = await readText(incoming)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(DECIDED_CODES.badBody, 'The body is no JSON.')
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOf(incoming)) {
    size += chunk.byteLength
    if (size > DECISIONS.jsonBodyMax)
      throw new Refusal(DECIDED_CODES.badBody, `The body must have at most ${DECISIONS.jsonBodyMax} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
