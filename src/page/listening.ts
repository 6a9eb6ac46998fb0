import { createServer } from 'node:http'
import type { Hono } from 'hono'
import { type Close, serveApp } from '../daemon/control/server.ts'
import { noteOtherEnd } from './guard.ts'

/** Where the page listens. */
export interface Address {
  host: string
  port: number
}

/** The page's address for a browser. Both null: the config says "off". */
export interface PageUrl {
  url: string | null
  /** Why the page can't be served, for a person. */
  why: string | null
}

/** Milliseconds after which an address that could not be opened is tried again. */
const AGAIN = 30_000
const CONNECTIONS = 256
/** How many milliseconds a browser has to send the headers of a request. */
const HEADERS_WITHIN = 10_000
const REQUEST_WITHIN = 30_000
const GRACE = 200

/**
 * Serves the page at its address. When the address can't be opened, a person is told once, and the address is tried again.
 * The daemon works on meanwhile.
 */
export class Listening {
  readonly #app: Hono
  readonly #say: (line: string) => void
  #address: Address | null = null
  #url: string | null = null
  #why: string | null = null
  #hangUp: Close | null = null
  #again: NodeJS.Timeout | undefined
  /** Changes of the address are made one after the other. */
  #latest: Promise<void> = Promise.resolve()

  /** `say` shows a person one line. */
  constructor(app: Hono, say: (line: string) => void) {
    this.#app = app
    this.#say = say
  }

  get pageUrl(): PageUrl {
    return { url: this.#url, why: this.#why }
  }

  /** Listens at this address from here on, and no longer at an earlier address. Null: listens nowhere. */
  at(address: Address | null): Promise<void> {
    return this.#inTurn(async () => {
      if (address?.host === this.#address?.host && address?.port === this.#address?.port) return
      this.#address = address
      this.#why = null
      this.#url = null
      clearTimeout(this.#again)
      await this.#hangUp?.()
      this.#hangUp = null
      await this.#listen()
    })
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#latest = this.#latest.then(work)
    return this.#latest
  }

  async #listen(): Promise<void> {
    if (this.#address === null || this.#url !== null) return
    const { host, port } = this.#address
    const server = createServer({ headersTimeout: HEADERS_WITHIN, requestTimeout: REQUEST_WITHIN })
    server.maxConnections = CONNECTIONS
    server.on('connection', noteOtherEnd)
    const name = host.includes(':') ? `[${host}]` : host
    try {
      this.#hangUp = await serveApp(server, this.#app, () => server.listen({ host, port }), GRACE)
      this.#url = `http://${name}:${(server.address() as { port: number }).port}/`
      if (this.#why !== null) this.#say(`the status page is at ${this.#url} now`)
      this.#why = null
    } catch (error) {
      const why = explain(error as NodeJS.ErrnoException, `${name}:${port}`)
      if (this.#why !== why) this.#say(why)
      this.#why = why
      this.#again = setTimeout(() => void this.#inTurn(() => this.#listen()), AGAIN).unref()
    }
  }
}

function explain({ code, message }: NodeJS.ErrnoException, address: string): string {
  const at = `status_page.listen: ${address}`
  const rest = 'albumd tries again'
  if (code === 'EADDRINUSE') return `${at} is taken by another program; ${rest}. Name another port, or "off"`
  if (code === 'EACCES') return `${at} is not for this user; ${rest}. Name a port from 1024 on`
  if (code === 'EADDRNOTAVAIL') return `${at} is no address of this machine; ${rest}. Name one that is`
  return `${at} can't be listened at (${code ?? message}); ${rest}`
}
