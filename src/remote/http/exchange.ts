import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Address } from './address.ts'
import { explainTransportError, type TransportError } from './transport-errors.ts'

/** Bytes. Nothing that §4 answers comes near this. */
const ANSWER_MAX = 4 * 2 ** 20

/** A body of known length that comes in pieces. */
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
   * Whether an answer shows by itself that it is this request's: its connection may then carry another. Left out: none
   * can, and the connection carries nothing else, before or after. A host, or a proxy before it, may answer twice, and the
   * second answer would be taken for the next request's.
   */
  isOwn?(answer: HttpResult): boolean
  /** From the first byte to the end of the answer. */
  limitMs?: number
  /** Just before the first byte leaves. */
  onStart?(): void
  /** Bytes of an answer, beyond which it is cut off. */
  answerMax?: number
  /** Takes the answer as it comes, instead of `body` of the result. */
  onChunk?(chunk: Uint8Array): void
}

/** How much of the request can have reached the host. */
export type Left = 'nothing' | 'part' | 'all'

export type HttpResult =
  | { kind: 'answer'; left: Left; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** `overLimit`: it took longer than `limitMs`. */
  | ({ kind: 'silence'; left: Left; overLimit?: true } & TransportError)
  | { kind: 'cancelled'; left: Left }

/** Never seen by anyone: the end was decided before. */
const GIVEN_UP = new Error('given up')

/** One request and its answer, on undici's lowest level: only there one sees which bytes have left. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest
  /** Without progress, in milliseconds. */
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
  /** Runs while a chunked body waits for the host. */
  #stall: NodeJS.Timeout | null = null
  #release = () => {}

  constructor(request: HttpRequest, timeoutMs: number) {
    this.#request = request
    this.#timeoutMs = timeoutMs
  }

  get result(): Promise<HttpResult> {
    return this.#settled.promise
  }

  begin(dispatcher: Dispatcher, signal: AbortSignal): void {
    const cancel = () => this.#end({ kind: 'cancelled', left: this.#left })
    if (signal.aborted) {
      cancel()
      return
    }
    signal.addEventListener('abort', cancel)
    this.#release = () => signal.removeEventListener('abort', cancel)
    const { method, address, headers, body, isOwn } = this.#request
    const payload = isChunked(body)
      ? {
          headers: { ...headers, 'content-length': String(body.length) },
          // undici takes any async iterable, though its types say less.
          body: this.#watched(body.chunks) as unknown as Readable,
          // undici's timer does not stop while we ourselves hold the next chunk back.
          headersTimeout: 0,
        }
      : { headers, body: body ?? null }
    const { origin, path } = address
    dispatcher.dispatch({ origin, path, method, ...(!isOwn && { reset: true }), ...payload }, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It may have been given up while it waited for its connection.
    if (this.#over) controller.abort(GIVEN_UP)
    else if (this.#start()) this.#startLimit()
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
      this.#silence('HOST_ANSWER', `${address.where} answered more than ${answerMax} bytes; it was cut off`)
    else if (onChunk) onChunk(chunk)
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

  /** The chunks. What they throw is our side's doing, to be told from an error of the connection. */
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

  /** From here on the host is given its time to take the next piece, or to answer. */
  #expectProgress(): void {
    if (this.#over || !isChunked(this.#request.body)) return
    const message = `${this.#request.address.where} did not answer in time`
    if (this.#stall) this.#stall.refresh()
    else this.#stall = setTimeout(() => this.#silence('HOST_UNREACHABLE', message), this.#timeoutMs)
  }

  #expectNothing(): void {
    if (this.#stall) clearTimeout(this.#stall)
    this.#stall = null
  }

  /** False where our own side stopped it. */
  #start(): boolean {
    try {
      this.#request.onStart?.()
    } catch (error) {
      this.#fail(error)
      return false
    }
    // Without chunks undici writes everything in this same turn.
    if (!isChunked(this.#request.body)) this.#left = 'all'
    return true
  }

  #startLimit(): void {
    const { limitMs, address } = this.#request
    if (limitMs === undefined) return
    const message = `${address.where} took longer than it may as a whole`
    const timer = setTimeout(() => this.#silence('HOST_UNREACHABLE', message, true), limitMs)
    const release = this.#release
    this.#release = () => {
      clearTimeout(timer)
      release()
    }
  }

  #silence(code: TransportError['code'], message: string, overLimit = false): void {
    this.#end({ kind: 'silence', left: this.#left, code, message, ...(overLimit && { overLimit }) })
  }

  #fail(error: unknown): void {
    this.#settled.reject(error)
    this.#end({ kind: 'cancelled', left: this.#left })
  }

  /** The first end holds. What has not ended by itself is cut off. */
  #end(result: HttpResult): void {
    if (this.#over) return
    this.#over = true
    this.#expectNothing()
    this.#release()
    this.#settled.resolve(result)
    if (result.kind !== 'answer') this.#controller?.abort(GIVEN_UP)
  }
}

function isChunked(body: HttpRequest['body']): body is ChunkedBody {
  return body !== undefined && !(body instanceof Uint8Array)
}
