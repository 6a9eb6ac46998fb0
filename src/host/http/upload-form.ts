import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { FILE_PART } from '../../protocol/endpoints.ts'
import { Refusal } from '../refusal.ts'

/** The bytes of the form part `file` (§4.2) as they arrive. Refuses more than `bound` bytes and, at its end, what is no form. */
export async function* filePart(incoming: IncomingMessage, bound: number): AsyncGenerator<Uint8Array> {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  // Busboy may stop reading after a large part without a name. Then this waits until the connection closes.
  incoming.socket.once('close', stop)
  try {
    const form = openForm(incoming)
    const { file, ended } = await findFile(incoming, form, bound, stopped.signal)
    if (file) yield* file
    await ended
    if (!file) throw new Refusal('noFilePart', `The form has no part named ${FILE_PART}.`)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('badForm', 'The body is no well-formed multipart form.')
  } finally {
    incoming.socket.off('close', stop)
    stop()
  }
}

function openForm(incoming: IncomingMessage): BusboyInstance {
  if (!/^multipart\/form-data\s*;/i.test(incoming.headers['content-type'] ?? ''))
    throw new Refusal('badForm', 'The Content-Type must be multipart/form-data.')
  return new Busboy({
    headers: incoming.headers as BusboyHeaders,
    // Busboy is to read each part as a stream, because it would collect a part that is no file in memory.
    isPartAFile: () => true,
    limits: { headerPairs: 32, headerSize: 8192 },
  })
}

interface Found {
  /** Null: the form ended without a file. */
  file: BusboyFileStream | null
  /** Resolves when the form has ended correctly. Its end is reached only after `file` was read to its end. */
  ended: Promise<void>
}

/** Reads the form up to the part `file`. When the form turns out to be invalid later, reading this part fails. */
async function findFile(
  incoming: IncomingMessage,
  form: BusboyInstance,
  bound: number,
  signal: AbortSignal,
): Promise<Found> {
  const found = Promise.withResolvers<BusboyFileStream | null>()
  form.on('file', (name, stream) => {
    // Busboy emits errors at a part that nobody reads any more. Without a listener such an error ends the process.
    stream.on('error', () => {})
    if (name === FILE_PART) found.resolve(stream)
    else stream.resume()
  })
  const ended = Promise.all([feed(incoming, form, bound, signal), outcome(form)]).then(() =>
    found.resolve(null),
  )
  ended.catch(found.reject)
  const file = await found.promise
  if (file) ended.catch(error => file.destroy(error))
  return { file, ended }
}

async function feed(
  incoming: IncomingMessage,
  form: BusboyInstance,
  bound: number,
  signal: AbortSignal,
): Promise<void> {
  let bytes = 0
  for await (const chunk of chunksOf(incoming)) {
    if (signal.aborted) return
    bytes += chunk.byteLength
    if (bytes > bound) throw new Refusal('wrongLength', 'The body is longer than the file was declared.')
    if (!form.write(chunk)) await once(form, 'drain', { signal })
  }
  form.end()
}

function outcome(form: BusboyInstance): Promise<void> {
  return new Promise((resolve, reject) => {
    let files = 0
    form.on('file', name => {
      if (name === FILE_PART) files += 1
      if (files > 1) reject(new Refusal('severalFileParts', `The form has several parts named ${FILE_PART}.`))
    })
    form.on('error', reject)
    form.on('finish', resolve)
  })
}

/** The chunks of a request's body. A reader may stop early and still answer. Refuses a body that ends too early. */
export async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* incoming.iterator({ destroyOnReturn: false })
  } catch {
    throw new Refusal('badBody', 'The connection closed before the body had ended.')
  }
}

const JSON_BODY_MAX = 64 * 1024

/** The JSON of a body (§4.1, §4.3, §4.6). Refuses what is no JSON. Refuses what is too long before it has read all. */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(incoming.headers['content-type'] ?? ''))
    throw new Refusal('badBody', 'The Content-Type must be application/json.')
  const text = await readText(incoming, JSON_BODY_MAX)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('badBody', 'The body is no JSON.')
  }
}

async function readText(incoming: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of chunksOf(incoming)) {
    size += chunk.byteLength
    if (size > most) throw new Refusal('badBody', `The body must have at most ${most} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
