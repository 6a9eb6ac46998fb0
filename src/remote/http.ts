import type { Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { Exchange, type HttpRequest, type HttpResult } from './exchange.ts'

const CONNECT_MS = 10_000

export interface HttpOptions {
  /** PEM. Instead of the authorities that Node knows. */
  ca?: string
  /**
   * To one origin. As many as there can be requests at once: none may wait for a connection after it has
   * taken its place in the rate window.
   */
  connections: number
  /** Without progress. */
  timeoutMs: number
}

/** HTTP/1.1 as far as albumd needs it: no redirects, no decompression, no retries, bounded answers. */
export class Http {
  readonly #agent: Agent
  /** Each request on a connection of its own. */
  readonly #apart: Agent
  readonly #sockets = new Set<Socket>()
  readonly #timeoutMs: number

  constructor({ ca, connections, timeoutMs }: HttpOptions) {
    this.#timeoutMs = timeoutMs
    const connect = buildConnector({
      timeout: Math.min(timeoutMs, CONNECT_MS),
      ...(ca !== undefined && { ca }),
      // Over HTTP/2 nobody could tell when a body's last byte has left.
      allowH2: false,
    })
    const options: Agent.Options = {
      connections,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: (options, connected) =>
        connect(options, (...result) => {
          const [, socket] = result
          if (socket) this.#know(socket)
          connected(...result)
        }),
      allowH2: false,
    }
    this.#agent = new Agent(options)
    // So undici calls it: a connection ends with its first answer.
    this.#apart = new Agent({ ...options, pipelining: 0 })
  }

  /**
   * Whether a connection still reads from memory what was handed to it. A host may answer before it has taken all, and
   * the rest leaves when it leaves.
   */
  isWriting(): boolean {
    return [...this.#sockets].some(socket => socket.writableLength > 0)
  }

  /** Rejects with what `onStart` or the body's chunks threw, and with nothing else. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
    const exchange = new Exchange(request, this.#timeoutMs)
    exchange.begin(request.apart ? this.#apart : this.#agent, signal)
    return exchange.result
  }

  #know(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Ends what is still under way. */
  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#apart.destroy()])
  }
}
