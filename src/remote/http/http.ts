import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
// Only two files of undici are loaded. The whole of undici has fetch, WebSocket, caches and mocks, and takes 15 ms longer
// to load.
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import { exchange, type HttpOptions, type HttpRequest, type HttpResult } from './exchange.ts'

const CONNECT_MS = 10_000

/** HTTP/1.1 as far as albumd needs it: no redirects, no decompression, no retries, answers of limited length. Each request
 * under way has a connection of its own. If a request had to wait for a connection, it would leave later than the rate
 * window was told. */
export class Http {
  readonly #options: HttpOptions
  readonly #connection: Client.Options
  /** All connections. A connection without a request has its origin as value, a connection with a request has null. */
  readonly #connections = new Map<Client, string | null>()
  readonly #sockets = new Set<Socket>()
  readonly #connecting = new AbortController()
  #isClosed = false

  constructor(options: HttpOptions) {
    this.#options = options
    const { ca, timeoutMs } = options
    const { signal } = this.#connecting
    // The default limit of 10 listeners is lifted, because each connection adds a listener to the signal.
    setMaxListeners(0, signal)
    const connect = buildConnector({
      timeout: Math.min(timeoutMs, CONNECT_MS),
      ...(ca !== undefined && { ca }),
      signal,
      // HTTP/2 is switched off, because with it nobody can tell when the last byte of a body has left.
      allowH2: false,
    })
    this.#connection = {
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

  /** Whether a connection still has bytes in memory to write. A host may answer before it has read the whole request. The
   * connection then still needs the memory of the request's bytes. */
  isWriting(): boolean {
    for (const socket of this.#sockets) if (socket.writableLength > 0) return true
    return false
  }

  /** Sends one request. Rejects with what `onStart`, `onChunk` or the body's chunks throw, and with nothing else. */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
    const { isOwn, address } = request
    const { origin } = address
    const connection = (isOwn && this.#idleFor(origin)) || this.#connect(origin)
    this.#connections.set(connection, null)
    let isKept = false
    try {
      const result = await exchange(connection, request, this.#options, signal)
      isKept = result.kind === 'answer' && isOwn?.(result) === true
      return result
    } finally {
      if (isKept) this.#connections.set(connection, origin)
      else this.#drop(connection)
    }
  }

  /** Closes all connections, and so ends the requests under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#connections.keys()].map(connection => connection.destroy()))
    // undici does not end connections that are still being made, and the process could not end before them.
    this.#connecting.abort()
  }

  #idleFor(origin: string): Client | null {
    for (const [connection, idleFor] of this.#connections) if (idleFor === origin) return connection
    return null
  }

  /** Makes a connection. undici opens it only when it gets a request. */
  #connect(origin: string): Client {
    const connection = new Client(origin, this.#connection)
    // After `close`, the new connection is destroyed at once, so that it answers every request with an error.
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
