import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { DECIDED_CODES, DECISIONS } from '../../protocol/decisions.ts'
import { FILE_PART } from '../../protocol/endpoints.ts'
import { Refusal } from '../refusal.ts'
import { chunksOf } from './body-chunks.ts'

/**
 * The bytes of the form part `file` (§4.2), as they come in: at most `size` of them and what a form has around them.
 * Refuses, at the latest after the last byte, a body that is not such a form.
 */
export async function* filePart(incoming: IncomingMessage, size: number): AsyncGenerator<Uint8Array> {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  // Busboy may never ask for more after a large part without a name. Nobody may wait for it longer than the client.
  incoming.socket.once('close', stop)
  try {
    const form = openForm(incoming)
    const { file, ended } = await findFile(incoming, form, size + DECISIONS.formOverheadMax, stopped.signal)
    if (file) yield* file
    await ended
    if (!file) throw new Refusal(DECIDED_CODES.noFilePart, `The form has no part named ${FILE_PART}.`)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(DECIDED_CODES.badForm, 'The body is no well-formed multipart form.')
  } finally {
    incoming.socket.off('close', stop)
    stop()
  }
}

/** Throws where the request declares no multipart form. */
function openForm(incoming: IncomingMessage): BusboyInstance {
  if (!/^multipart\/form-data\s*;/i.test(incoming.headers['content-type'] ?? ''))
    throw new Refusal(DECIDED_CODES.badForm, 'The Content-Type must be multipart/form-data.')
  return new Busboy({
    headers: incoming.headers as BusboyHeaders,
    // As a stream every part can be passed over; as a field it would be collected in memory.
    isPartAFile: () => true,
    limits: { headerPairs: 32, headerSize: 8192 },
  })
}

interface Found {
  /** Null: the form ended without one. */
  file: BusboyFileStream | null
  /** Resolves once the form has ended as it should, which takes that the file is read to its end. */
  ended: Promise<void>
}

/** Begins to read the form, as far as the part `file`. Whatever goes wrong later ends that part with the same error. */
async function findFile(
  incoming: IncomingMessage,
  form: BusboyInstance,
  bound: number,
  signal: AbortSignal,
): Promise<Found> {
  const found = Promise.withResolvers<BusboyFileStream | null>()
  form.on('file', (name, stream) => {
    // Busboy emits errors at a part that nobody may be reading any more; unheard, they would end the process.
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
    if (bytes > bound)
      throw new Refusal(DECIDED_CODES.wrongLength, 'The body is longer than the file was declared.')
    if (!form.write(chunk)) await once(form, 'drain', { signal })
  }
  form.end()
}

function outcome(form: BusboyInstance): Promise<void> {
  return new Promise((resolve, reject) => {
    let files = 0
    form.on('file', name => {
      if (name === FILE_PART) files += 1
      if (files > 1)
        reject(new Refusal(DECIDED_CODES.severalFileParts, `The form has several parts named ${FILE_PART}.`))
    })
    form.on('error', reject)
    form.on('finish', resolve)
  })
}
