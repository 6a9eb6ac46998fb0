import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { because, type Reason } from '../../words/reasons.ts'
import { CERTIFICATE_ERRORS, CONNECTION_ERRORS } from '../../words/system-errors.ts'
import type { Address } from './address.ts'

/** Bytes. The longest answer of §4, a page of a listing, is far shorter. */
const ANSWER_MAX = 4 * 2 ** 20

/** A body that comes in pieces, and whose length is known before. */
export interface ChunkedBody {
  /** Bytes. */
  length: number
  chunks: AsyncIterable<Uint8Array>
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  address: Address
  headers: Record<string, string>
  body?: Uint8Array | ChunkedBody
  /**
   * Whether an answer itself shows that it belongs to this request. Only then is its connection used for another request,
   * because a host, or a proxy in front of it, may send an answer twice, and the second copy would be read as the answer to
   * the next request. Left out: no answer shows that, and the request gets a connection of its own.
   */
  isOwn?(answer: HttpResult): boolean
  /** The longest time from the first byte of the request to the end of the answer, in milliseconds. */
  limitMs?: number
  /** Called just before the first byte leaves. */
  onStart?(): void
  /** An answer with more bytes than this is cut off. */
  answerMax?: number
  /** Gets the answer's bytes as they come, until it throws. The `body` of the result is then empty. */
  onChunk?(chunk: Uint8Array): void
}

/** How much of the request can have reached the host. What the connection took counts, even if it is still in a buffer. */
export type Left = 'nothing' | 'part' | 'all'

export type HttpResult =
  | { kind: 'answer'; left: Left; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** `overLimit`: it took longer than `limitMs`. */
  | ({ kind: 'silence'; left: Left; overLimit?: true } & TransportError)
  | { kind: 'cancelled'; left: Left }

/** The reason that undici is given for an abort. Nobody sees it, because the result is settled before. */
const ABORTED = new Error('aborted')

/**
 * One request and its answer, on the lowest level of undici (`dispatch`), because only there it can be seen which bytes of
 * the body the connection took. That decides what a lost answer means. Example: an upload of 5 MB ends with ECONNRESET.
 * With `left: 'part'` the upload node never had the whole picture and stored nothing, so it can be sent again at once. With
 * `left: 'all'` the picture may be stored, so recovery has to find out first.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest
  /** The longest time without progress. */
  readonly #timeoutMs: number
  readonly #settled = Promise.withResolvers<HttpResult>()
  #over = false
  #controller: Dispatcher.DispatchController | null = null
  #left: Left = 'nothing'
  #bytesLeft = 0
  #status = 0
  #headers: IncomingHttpHeaders = {}
  readonly #answer: Uint8Array[] = []
  #answered = 0
  /** Runs while a chunked body waits for the host, and not while the body waits for us. */
  #stall: NodeJS.Timeout | undefined
  #limit: NodeJS.Timeout | undefined
  #release = () => {}

  constructor(request: HttpRequest, timeoutMs: number) {
    this.#request = request
    this.#timeoutMs = timeoutMs
  }

  /** Rejects with what `onStart`, `onChunk` or the body's chunks throw, and with nothing else. */
  run(dispatcher: Dispatcher, signal: AbortSignal): Promise<HttpResult> {
    if (signal.aborted) return Promise.resolve({ kind: 'cancelled', left: 'nothing' })
    const cancel = () => this.#end({ kind: 'cancelled', left: this.#left })
    signal.addEventListener('abort', cancel)
    this.#release = () => signal.removeEventListener('abort', cancel)
    const { method, address, headers, body, isOwn } = this.#request
    const payload = isChunked(body)
      ? {
          headers: { ...headers, 'content-length': String(body.length) },
          // undici takes any async iterable, although its types say Readable.
          body: this.#watched(body.chunks) as unknown as Readable,
          // undici's timer also runs while we hold the next chunk back (bandwidth, a slow disk). `#stall` stands for it.
          headersTimeout: 0,
        }
      : { headers, body: body ?? null }
    const { origin, path } = address
    dispatcher.dispatch({ origin, path, method, ...(!isOwn && { reset: true }), ...payload }, this)
    return this.#settled.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The request may have been cancelled while its connection was being made.
    if (this.#over) controller.abort(ABORTED)
    else this.#tried(() => this.#start())
  }

  onBodySent(chunk: Uint8Array): void {
    const { body } = this.#request
    if (!isChunked(body)) return
    this.#bytesLeft += chunk.byteLength
    this.#left = this.#bytesLeft < body.length ? 'part' : 'all'
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#expectProgress()
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return
    this.#expectProgress()
    const { onChunk, address, answerMax = ANSWER_MAX } = this.#request
    this.#answered += chunk.byteLength
    if (this.#answered > answerMax)
      this.#silence('HOST_ANSWER', because('answer_too_long', { where: address.where, most: answerMax }))
    else if (onChunk) this.#tried(() => onChunk(chunk))
    else this.#answer.push(chunk)
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#answer)
    this.#end({ kind: 'answer', left: this.#left, status: this.#status, headers: this.#headers, body })
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const { code, message } = explainTransportError(error, this.#request.address.where)
    this.#silence(code, message)
  }

  /** The chunks. An error that they throw rejects `result`, and is not mistaken for an error of the connection. */
  async *#watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        this.#expectProgress()
        yield chunk
        this.#expectNothing()
      }
    } catch (error) {
      this.#fail(error)
      throw error
    }
    this.#expectProgress()
  }

  /** Gives the host `timeoutMs` from now to take the next chunk, or to answer. */
  #expectProgress(): void {
    if (this.#over || !isChunked(this.#request.body)) return
    const message = because('no_answer_in_time', { where: this.#request.address.where })
    if (this.#stall) this.#stall.refresh()
    else this.#stall = setTimeout(() => this.#silence('HOST_UNREACHABLE', message), this.#timeoutMs)
  }

  #expectNothing(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
  }

  #start(): void {
    const { onStart, body, limitMs, address } = this.#request
    onStart?.()
    // Without chunks undici writes the whole request in this same turn of the event loop.
    if (!isChunked(body)) this.#left = 'all'
    const message = because('answer_too_slow', { where: address.where })
    if (limitMs !== undefined)
      this.#limit = setTimeout(() => this.#silence('HOST_UNREACHABLE', message, true), limitMs)
  }

  /** An error that the caller's code throws rejects `result`. */
  #tried(callersCode: () => void): void {
    try {
      callersCode()
    } catch (error) {
      this.#fail(error)
    }
  }

  #silence(code: TransportError['code'], message: Reason, overLimit = false): void {
    this.#end({ kind: 'silence', left: this.#left, code, message, ...(overLimit && { overLimit }) })
  }

  #fail(error: unknown): void {
    this.#settled.reject(error)
    this.#end({ kind: 'cancelled', left: this.#left })
  }

  /** Settles the result once; later ends are ignored. Without an answer the connection is aborted. */
  #end(result: HttpResult): void {
    if (this.#over) return
    this.#over = true
    this.#expectNothing()
    clearTimeout(this.#limit)
    this.#release()
    this.#settled.resolve(result)
    if (result.kind !== 'answer') this.#controller?.abort(ABORTED)
  }
}

function isChunked(body: HttpRequest['body']): body is ChunkedBody {
  return body !== undefined && !(body instanceof Uint8Array)
}

/** Why there is no answer. The words are albumd's own, because errors of Node and undici may contain an address. */
export interface TransportError {
  code: 'HOST_UNREACHABLE' | 'HOST_TLS' | 'HOST_ANSWER'
  message: Reason
}

const NO_HTTP = ['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']

/** `where` is host:port. */
export function explainTransportError(error: Error, where: string): TransportError {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code in CONNECTION_ERRORS)
    return { code: 'HOST_UNREACHABLE', message: because('no_connection', { where, code }) }
  if (code in CERTIFICATE_ERRORS)
    return { code: 'HOST_TLS', message: because('bad_certificate', { where, code }) }
  if (/^(ERR_SSL|ERR_TLS|EPROTO|CERT_|CRL_)/.test(code))
    return { code: 'HOST_TLS', message: because('no_secure_connection', { where, code }) }
  // undici leaves the code of its parser's errors undefined.
  if (NO_HTTP.includes(error.name)) return { code: 'HOST_ANSWER', message: because('not_http', { where }) }
  return {
    code: 'HOST_UNREACHABLE',
    message: because('connection_failed', { where, code: code || error.name }),
  }
}
