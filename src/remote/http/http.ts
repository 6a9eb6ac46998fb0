import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
// The whole of undici takes 15 ms longer to load: it has fetch, WebSocket, caches and mocks.
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import { exchange, type HttpRequest, type HttpResult } from './exchange.ts'

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
  readonly #timeoutMs: number
  readonly #options: Client.Options
  /** All connections, and the origins of those without a request at the moment. One request at a time uses a connection. */
  readonly #connections = new Map<Client, string | null>()
  readonly #sockets = new Set<Socket>()
  readonly #connecting = new AbortController()
  #isClosed = false

  constructor({ ca, timeoutMs }: HttpOptions) {
    this.#timeoutMs = timeoutMs
    const { signal } = this.#connecting
    // Each connection adds a listener.
    setMaxListeners(0, signal)
    const connect = buildConnector({
      timeout: Math.min(timeoutMs, CONNECT_MS),
      ...(ca !== undefined && { ca }),
      signal,
      // Over HTTP/2 it can't be told when the last byte of a body has left.
      allowH2: false,
    })
    this.#options = {
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: (options, connected) =>
        connect(options, (...result) => {
          const [, socket] = result
          if (socket) this.#watch(socket)
          connected(...result)
        }),
      allowH2: false,
    }
  }

  /**
   * Whether any connection still has bytes to write from memory. A host may answer before it has taken the whole request;
   * the connection then still reads the request's bytes.
   */
  isWriting(): boolean {
    return [...this.#sockets].some(socket => socket.writableLength > 0)
  }

  /** Sends one request. Rejects with what `onStart`, `onChunk` or the body's chunks throw, and with nothing else. */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
    const { isOwn, address } = request
    const { origin } = address
    const [kept] = [...this.#connections].find(([, idleFor]) => isOwn && idleFor === origin) ?? []
    const connection = kept ?? this.#connect(origin)
    this.#connections.set(connection, null)
    let isKept = false
    try {
      const result = await exchange(connection, request, this.#timeoutMs, signal)
      isKept = result.kind === 'answer' && isOwn?.(result) === true
      return result
    } finally {
      if (isKept) this.#connections.set(connection, origin)
      else this.#drop(connection)
    }
  }

  /** Ends what is still under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#connections.keys()].map(connection => connection.destroy()))
    // undici does not end connections that are still being made, and the process would wait for them.
    this.#connecting.abort()
  }

  /** A new connection. undici connects it when it gets a request. */
  #connect(origin: string): Client {
    const connection = new Client(origin, this.#options)
    // A destroyed connection answers every request with an error.
    if (this.#isClosed) void connection.destroy()
    connection.on('disconnect', () => {
      if (this.#connections.get(connection)) this.#drop(connection)
    })
    return connection
  }

  #drop(connection: Client): void {
    this.#connections.delete(connection)
    void connection.destroy()
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
