import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
// Only some files of undici are loaded. The whole of undici has fetch, WebSocket, caches and mocks, and takes 15 ms longer
// to load.
import buildConnector from 'undici/lib/core/connect.js'
import symbols from 'undici/lib/core/symbols.js'
import Client from 'undici/lib/dispatcher/client.js'
import type { Address } from './address.ts'
import {
  exchange,
  explainTransportError,
  type HttpOptions,
  type HttpRequest,
  type HttpResult,
} from './exchange.ts'

const CONNECT_MS = 10_000

/** Makes a connection, as undici wants to have it done. */
type Connector = buildConnector.connector

/** HTTP/1.1 without redirects, decompression and retries. Each request under way has a connection of its own: a request that
 * waited for a connection would leave later than the rate window was told. */
export class Http {
  readonly #options: HttpOptions
  readonly #connection: Client.Options & { connect: Connector }
  readonly #tls: buildConnector.BuildOptions
  /** All connections. The value is the origin of a connection without a request, and null for one with a request. */
  readonly #connections = new Map<Dispatcher, string | null>()
  readonly #sockets = new Set<Socket>()
  readonly #connecting = new AbortController()
  #isClosed = false

  constructor(options: HttpOptions) {
    this.#options = options
    const { ca, timeoutMs } = options
    const { signal } = this.#connecting
    // The default limit of 10 listeners is lifted, because each connection adds a listener to the signal.
    setMaxListeners(0, signal)
    this.#tls = {
      timeout: Math.min(timeoutMs, CONNECT_MS),
      ...(ca !== undefined && { ca }),
      signal,
      // HTTP/2 is switched off, because with it nobody can tell when the last byte of a body has left.
      allowH2: false,
    }
    this.#connection = {
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: this.#watching(buildConnector(this.#tls), null),
      allowH2: false,
    }
  }

  /** Whether a connection still needs the memory of a request, because a host may answer before it has read all of it. */
  isWriting(): boolean {
    for (const socket of this.#sockets) if (socket.writableLength > 0) return true
    return false
  }

  /** Sends one request. Rejects with what `onStart`, `onChunk` or the body's chunks throw, and with nothing else. */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
    const { isOwn, address } = request
    const { origin, where } = address
    const connection = (isOwn && this.#idleFor(origin)) || (await this.#connect(address).catch(asError))
    if (connection instanceof Error)
      return { kind: 'silence', left: 'nothing', ...explainTransportError(connection, where, undefined) }
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
    // undici does not end connections that are being made, and the process could not end before them.
    this.#connecting.abort()
  }

  #idleFor(origin: string): Dispatcher | null {
    for (const [connection, idleFor] of this.#connections) if (idleFor === origin) return connection
    return null
  }

  /** Makes a connection. undici opens it only when it gets a request. */
  async #connect({ origin, loopback }: Address): Promise<Dispatcher> {
    const proxy = loopback ? undefined : proxyOfEnvironment()
    const connection = proxy ? await this.#perhapsBy(proxy) : this.#client(origin)
    // After `close`, the new connection is destroyed at once, so that it answers every request with an error.
    if (this.#isClosed) void connection.destroy()
    return connection
  }

  #client(origin: string | URL, connect = this.#connection.connect, connection?: Dispatcher): Client {
    const client = new Client(origin, { ...this.#connection, connect })
    client.on('disconnect', () => {
      if (this.#connections.get(connection ?? client)) this.#drop(connection ?? client)
    })
    return client
  }

  /** A connection through the proxy, unless NO_PROXY names the host. The proxy only passes bytes on (CONNECT), so it sees neither
   * key nor picture. Throws where the text is no address of a proxy. */
  async #perhapsBy(proxy: string): Promise<Dispatcher> {
    const [{ default: EnvHttpProxyAgent }, { default: tunnel }] = await Promise.all([
      import('undici/lib/dispatcher/env-http-proxy-agent.js'),
      import('undici/lib/api/api-connect.js'),
    ])
    const connection: Dispatcher = new EnvHttpProxyAgent({
      connect: this.#connection.connect,
      httpProxy: proxy,
      httpsProxy: proxy,
      proxyTunnel: true,
      // The host's authority is not trusted for the proxy.
      proxyTls: { ...this.#tls, ca: undefined } as buildConnector.BuildOptions,
      requestTls: this.#tls,
      clientFactory: (proxy, { connect }: Client.Options) => {
        const client = this.#client(proxy, this.#watching(connect as Connector, new URL(proxy).host))
        // undici gives its clients this method only where all of undici is loaded.
        return Object.assign(client, { connect: tunnel })
      },
      factory: (origin, { connect }: Client.Options) =>
        this.#client(origin, this.#watching(connect as Connector, null), connection),
    })
    return connection
  }

  #drop(connection: Dispatcher): void {
    this.#connections.delete(connection)
    void connection.destroy()
  }

  #watching(connect: Connector, proxy: string | null): Connector {
    return (options, connected) =>
      connect(options, (...result) => {
        const [, socket] = result
        connected(...result)
        if (!socket) return
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
        passOverContinue(socket)
        this.#options.onConnected?.(proxy)
      })
  }
}

/** The proxy of the environment: as for undici, HTTP_PROXY where no other is named; as for curl, also `proxy:3128`. */
function proxyOfEnvironment(): string | undefined {
  const { https_proxy, HTTPS_PROXY, http_proxy, HTTP_PROXY } = process.env
  const named = https_proxy || HTTPS_PROXY || http_proxy || HTTP_PROXY
  return named && !named.includes('://') ? `http://${named}` : named
}

const asError = (error: unknown) => error as Error

/** Skips a status 100, at which undici ends the connection. undici itself skips 102 and 103 (RFC 9110, 15.2). */
function passOverContinue(socket: Socket & { [symbols.kParser]?: Parser }): void {
  const parser = socket[symbols.kParser]
  if (!parser) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, ...rest) =>
    onHeadersComplete.call(parser, status === 100 ? 102 : status, ...rest)
}

interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, isKept: boolean): number
}
