import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { ConnectionPool } from './connection-pool.ts'
import { Exchange, type HttpRequest, type HttpResult } from './exchange.ts'

const CONNECT_MS = 10_000

export interface HttpOptions {
  /** PEM. Instead of the authorities that Node knows. */
  ca?: string
  /** Without progress. */
  timeoutMs: number
}

/**
 * HTTP/1.1 as far as albumd needs it: no redirects, no decompression, no retries, bounded answers. As many connections as
 * there are requests at once: none may wait for one after it has taken its place in the rate window.
 */
export class Http {
  readonly #pool: ConnectionPool
  readonly #sockets = new Set<Socket>()
  readonly #closed = new AbortController()
  readonly #timeoutMs: number

  constructor({ ca, timeoutMs }: HttpOptions) {
    this.#timeoutMs = timeoutMs
    const { signal } = this.#closed
    // Each connection listens.
    setMaxListeners(0, signal)
    const connect = buildConnector({
      timeout: Math.min(timeoutMs, CONNECT_MS),
      ...(ca !== undefined && { ca }),
      signal,
      // Over HTTP/2 nobody could tell when a body's last byte has left.
      allowH2: false,
    })
    this.#pool = new ConnectionPool({
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: (options, connected) =>
        connect(options, (...result) => {
          const [, socket] = result
          if (socket) this.#know(socket)
          connected(...result)
        }),
      allowH2: false,
    })
  }

  /**
   * Whether a connection still reads from memory what was handed to it. A host may answer before it has taken all, and
   * the rest leaves when it leaves.
   */
  isWriting(): boolean {
    return [...this.#sockets].some(socket => socket.writableLength > 0)
  }

  /** Rejects with what `onStart` or the body's chunks threw, and with nothing else. */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
    const { isOwn, address } = request
    const { origin } = address
    const connection = isOwn ? this.#pool.take(origin) : this.#pool.open(origin)
    let isKept = false
    try {
      const exchange = new Exchange(request, this.#timeoutMs)
      exchange.begin(connection, signal)
      const result = await exchange.result
      isKept = result.kind === 'answer' && isOwn?.(result) === true
      return result
    } finally {
      if (isKept) this.#pool.keep(origin, connection)
      else this.#pool.drop(origin, connection)
    }
  }

  #know(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Ends what is still under way. */
  async close(): Promise<void> {
    await this.#pool.close()
    // undici does not end those that are still being made, and the process would wait for them.
    this.#closed.abort()
  }
}
