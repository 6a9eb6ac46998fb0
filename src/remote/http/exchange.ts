import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { because, type Reason } from '../../words/reasons.ts'
import { CONNECTION_ERRORS, certificateFault, isOfTls, isUntrusted } from '../../words/system-errors.ts'
import type { Address } from './address.ts'

/** The most bytes of an answer. The longest answer of §4, a page of a listing, is far shorter. */
const ANSWER_MAX = 4 * 2 ** 20

/** A body that comes in chunks, and whose length is known before the first chunk comes. */
export interface ChunkedBody {
  /** Bytes. */
  length: number
  chunks: AsyncIterable<Uint8Array>
}

export interface HttpOptions {
  /** The authorities (PEM) to trust instead of those that Node knows. */
  ca?: string
  /** The longest time without progress, in milliseconds. */
  timeoutMs: number
  /** Called when a connection was made. `proxy`: name and port of the proxy that it goes through, or null. */
  onConnected?(proxy: string | null): void
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  address: Address
  headers: Record<string, string>
  body?: Uint8Array | ChunkedBody
  /** Whether the answer itself shows that it belongs to this request. A host or proxy may send one twice, and the copy would
   * answer the next request. Left out: no answer shows it, so the request gets a connection of its own. */
  isOwn?(answer: HttpResult): boolean
  /** The longest time from the first byte of the request to the end of the answer, in milliseconds. */
  limitMs?: number
  /** Called just before the first byte leaves. */
  onStart?(): void
  /** When an answer has more bytes than this, the connection is closed and the request fails with HOST_ANSWER. */
  answerMax?: number
  /** Gets the bytes of an answer 200 as they come, until it throws. In that case, and for all other answers, `body` is empty. */
  onChunk?(chunk: Uint8Array): void
}

/** How much of the request may have reached the host, as far as the connection has taken it. */
export type Left = 'nothing' | 'part' | 'all'

/** The headers of an answer by their names in lower case. Of a header that came more than once, the first. */
export type AnswerHeaders = Partial<Record<string, string>>

export type HttpResult =
  | { kind: 'answer'; left: Left; status: number; headers: AnswerHeaders; body: Buffer }
  /** `overLimit`: no answer was complete within `limitMs`. */
  | ({ kind: 'silence'; left: Left; overLimit?: true } & TransportError)
  | { kind: 'cancelled'; left: Left }

/** The error that undici is given when albumd aborts a request. Nobody sees it, because the result is settled before. */
const ABORTED = new Error('aborted')

/** Sends one request on the lowest level of undici (`dispatch`), which alone shows which bytes of the body the connection took.
 * After `left: 'part'` the picture can be sent again at once, because the node never had all of it. After `left: 'all'` recovery
 * has to find out whether the node stored it. `timeoutMs`: without progress. Rejects with what `onStart`, `onChunk` or the
 * body's chunks throw, and with nothing else. */
export function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  { timeoutMs, ca }: HttpOptions,
  signal: AbortSignal,
): Promise<HttpResult> {
  if (signal.aborted) return Promise.resolve({ kind: 'cancelled', left: 'nothing' })
  const { method, address, headers, body, isOwn, limitMs, onStart, onChunk, answerMax = ANSWER_MAX } = request
  const { origin, path, where } = address
  const settled = Promise.withResolvers<HttpResult>()
  let over = false
  let controller: Dispatcher.DispatchController | null = null
  let left: Left = 'nothing'
  let bytesLeft = 0
  const answer = { status: 0, headers: {} as AnswerHeaders, chunks: [] as Uint8Array[], bytes: 0 }
  /** The timer that ends the request when the host takes no bytes. It does not run while the host waits for this machine. */
  let stall: NodeJS.Timeout | undefined
  let isHostsTurn = false
  let limit: NodeJS.Timeout | undefined

  /** Settles the result once, and ignores later calls. Aborts the connection unless an answer came. */
  function end(result: HttpResult): void {
    if (over) return
    over = true
    clearTimeout(stall)
    clearTimeout(limit)
    signal.removeEventListener('abort', cancel)
    settled.resolve(result)
    if (result.kind !== 'answer') controller?.abort(ABORTED)
  }

  function cancel(): void {
    end({ kind: 'cancelled', left })
  }

  function silence({ code, message }: TransportError, overLimit = false): void {
    end({ kind: 'silence', left, code, message, ...(overLimit && { overLimit }) })
  }

  /** Rejects the result with an error that the caller's code threw. */
  function fail(error: unknown): void {
    settled.reject(error)
    cancel()
  }

  function tried(callersCode: () => void): void {
    try {
      callersCode()
    } catch (error) {
      fail(error)
    }
  }

  /** Gives the host `timeoutMs` from now to take the next chunk, or to answer. */
  function expectProgress(): void {
    if (over || !isChunked(body)) return
    isHostsTurn = true
    if (stall) stall.refresh()
    else
      stall = setTimeout(() => isHostsTurn && outOfTime(because('no_answer_in_time', { where })), timeoutMs)
  }

  function outOfTime(message: Reason, overLimit = false): void {
    silence({ code: 'HOST_UNREACHABLE', message }, overLimit)
  }

  /** Passes the chunks on. An error of reading them is the caller's, not the connection's. */
  async function* watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        expectProgress()
        yield chunk
        isHostsTurn = false
      }
    } catch (error) {
      fail(error)
      throw error
    }
    expectProgress()
  }

  const payload = isChunked(body)
    ? {
        headers: { ...headers, 'content-length': String(body.length) },
        // undici takes any async iterable, although its types say Readable.
        body: watched(body.chunks) as unknown as Readable,
        // undici's own timer would also run while this machine holds the next chunk back, so `stall` does its work.
        headersTimeout: 0,
      }
    : { headers, body: body ?? null }
  signal.addEventListener('abort', cancel)
  dispatcher.dispatch(
    { origin, path, method, ...(!isOwn && { reset: true }), ...payload },
    {
      onRequestStart(started) {
        controller = started
        // The request may have been cancelled while its connection was being made.
        if (over) return started.abort(ABORTED)
        tried(() => onStart?.())
        if (over) return
        // undici writes a body that does not come in chunks as a whole, in this turn of the event loop.
        if (!isChunked(body)) left = 'all'
        if (limitMs !== undefined)
          limit = setTimeout(() => outOfTime(because('answer_too_slow', { where }), true), limitMs)
      },
      onBodySent(chunk: Uint8Array) {
        if (!isChunked(body)) return
        bytesLeft += chunk.byteLength
        left = bytesLeft < body.length ? 'part' : 'all'
      },
      onResponseStart(_, status, headers) {
        expectProgress()
        answer.status = status
        answer.headers = Object.fromEntries(
          // Undici gives an array for a header that came more than once, although its type does not say so.
          Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
        )
      },
      onResponseData(_, chunk) {
        if (over) return
        expectProgress()
        answer.bytes += chunk.byteLength
        if (answer.bytes > answerMax)
          silence({ code: 'HOST_ANSWER', message: because('answer_too_long', { where, most: answerMax }) })
        else if (!onChunk) answer.chunks.push(chunk)
        else if (answer.status === 200) tried(() => onChunk(chunk))
      },
      onResponseEnd() {
        const { status, headers, chunks } = answer
        end({ kind: 'answer', left, status, headers, body: Buffer.concat(chunks) })
      },
      onResponseError: (_, error) => silence(explainTransportError(error, where, ca)),
    },
  )
  return settled.promise
}

function isChunked(body: HttpRequest['body']): body is ChunkedBody {
  return body !== undefined && !(body instanceof Uint8Array)
}

/** Why no answer came. The words are albumd's own, because the errors of Node and undici may contain an address. */
export interface TransportError {
  code: 'HOST_UNREACHABLE' | 'HOST_TLS' | 'HOST_ANSWER'
  message: Reason
}

const NO_HTTP = ['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']

/** `where` is host:port. `ca`: the authorities of the config, or undefined when it names none. */
export function explainTransportError(error: Error, where: string, ca: string | undefined): TransportError {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code in CONNECTION_ERRORS)
    return { code: 'HOST_UNREACHABLE', message: because('no_connection', { where, code }) }
  if (isOfTls(code)) {
    if (ca !== undefined && isUntrusted(code))
      return { code: 'HOST_TLS', message: because('other_authority', { where }) }
    const kind = certificateFault(code) === null ? 'no_secure_connection' : 'bad_certificate'
    return { code: 'HOST_TLS', message: because(kind, { where, code }) }
  }
  // An error of undici's parser has no code, so it is recognized by its name.
  if (NO_HTTP.includes(error.name)) return { code: 'HOST_ANSWER', message: because('not_http', { where }) }
  return {
    code: 'HOST_UNREACHABLE',
    message: because('connection_failed', { where, code: code || error.name }),
  }
}
