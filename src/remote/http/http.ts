import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import { Exchange, type HttpRequest, type HttpResult } from './exchange.ts'

const CONNECT_MS = 10_000

export interface HttpOptions {
  /** PEM of the authorities to trust instead of those that Node knows. */
  ca?: string
  /** The longest time without progress. */
  timeoutMs: number
}

/**
 * HTTP/1.1 as far as albumd needs it: no redirects, no decompression, no retries, bounded answers. It opens as many
 * connections as there are requests at once, because a request that waited for a connection would leave later than the
 * rate window was told.
 */
export class Http {
  readonly #pool: ConnectionPool
  readonly #sockets = new Set<Socket>()
  readonly #closed = new AbortController()
  readonly #timeoutMs: number

  constructor({ ca, timeoutMs }: HttpOptions) {
    this.#timeoutMs = timeoutMs
    const { signal } = this.#closed
    // Each connection adds a listener.
    setMaxListeners(0, signal)
    const connect = buildConnector({
      timeout: Math.min(timeoutMs, CONNECT_MS),
      ...(ca !== undefined && { ca }),
      signal,
      // Over HTTP/2 it can't be told when the last byte of a body has left.
      allowH2: false,
    })
    this.#pool = new ConnectionPool({
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: (options, connected) =>
        connect(options, (...result) => {
          const [, socket] = result
          if (socket) this.#watch(socket)
          connected(...result)
        }),
      allowH2: false,
    })
  }

  /**
   * Whether any connection still has bytes to write from memory. A host may answer before it has taken the whole request;
   * the connection then still reads the request's bytes.
   */
  isWriting(): boolean {
    return [...this.#sockets].some(socket => socket.writableLength > 0)
  }

  /** Sends one request. Rejects with what `onStart` or the body's chunks throw, and with nothing else. */
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

  #watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Ends what is still under way. */
  async close(): Promise<void> {
    await this.#pool.close()
    // undici does not end connections that are still being made, and the process would wait for them.
    this.#closed.abort()
  }
}

/** Connections to any origin, each for one request at a time. */
class ConnectionPool {
  readonly #options: Client.Options
  /** Connections without a request at the moment, by origin. */
  readonly #idle = new Map<string, Set<Client>>()
  readonly #all = new Set<Client>()
  #closed = false

  constructor(options: Client.Options) {
    this.#options = options
  }

  /** A new connection. undici connects it when it gets a request. */
  open(origin: string): Client {
    const client = new Client(origin, this.#options)
    this.#all.add(client)
    // A destroyed client answers every request with an error.
    if (this.#closed) void client.destroy()
    client.on('disconnect', () => {
      if (this.#idle.get(origin)?.has(client)) this.drop(origin, client)
    })
    return client
  }

  /** A kept connection if there is one, else a new one. */
  take(origin: string): Client {
    const [kept] = this.#idle.get(origin) ?? []
    if (!kept) return this.open(origin)
    this.#forgetIdle(origin, kept)
    return kept
  }

  /** Keeps a connection for another request, as long as the host keeps it open. */
  keep(origin: string, client: Client): void {
    const idle = this.#idle.get(origin)
    if (idle) idle.add(client)
    else this.#idle.set(origin, new Set([client]))
  }

  drop(origin: string, client: Client): void {
    this.#forgetIdle(origin, client)
    this.#all.delete(client)
    void client.destroy()
  }

  /** Ends what is still under way. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#all].map(client => client.destroy()))
  }

  #forgetIdle(origin: string, client: Client): void {
    const idle = this.#idle.get(origin)
    idle?.delete(client)
    if (idle?.size === 0) this.#idle.delete(origin)
  }
}
