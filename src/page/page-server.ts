import { createServer } from 'node:http'
import type { Hono } from 'hono'
import { type Close, serveApp } from '../daemon/control/server.ts'
import { noteOtherEnd } from './guard.ts'

interface Address {
  host: string
  port: number
}

/** Where it is served. `url` and `why` null: the config says "off". */
export interface PageUrl {
  url: string | null
  /** Why it can't be served, for a person. */
  why: string | null
}

const TRY_AGAIN_MS = 30_000
const HEADERS_WITHIN_MS = 10_000
const REQUEST_WITHIN_MS = 30_000
const CLOSE_WITHIN_MS = 200
const CONNECTIONS = 256
const PAGE = { key: 'status_page.listen', what: 'the status page' }

/** Serves the page at an address, which may change when the config is read again. The daemon works without it. */
export class PageServer {
  readonly #app: Hono
  readonly #say: (line: string) => void
  readonly #named: { key: string; what: string }
  #address: Address | null = null
  #close: Close | null = null
  #again: NodeJS.Timeout | undefined
  /** Changes of the address are made one after the other. */
  #latest: Promise<void> = Promise.resolve()
  pageUrl: PageUrl = { url: null, why: null }

  /** `say` shows a person one line. `named`: the key of the config, and what is served, in words. */
  constructor(app: Hono, say: (line: string) => void, named = PAGE) {
    this.#app = app
    this.#say = say
    this.#named = named
  }

  /** Listens at this address from now on. When the address can't be used, tries again. Null: listens nowhere. */
  listenAt(address: Address | null): Promise<void> {
    this.#latest = this.#latest.then(() => this.#listenAt(address))
    return this.#latest
  }

  async #listenAt(address: Address | null): Promise<void> {
    const isSame = address?.host === this.#address?.host && address?.port === this.#address?.port
    if (isSame && this.#close) return
    clearTimeout(this.#again)
    await this.#close?.()
    this.#close = null
    this.#address = address
    const before = isSame ? this.pageUrl.why : null
    this.pageUrl = { url: null, why: null }
    if (address === null) return
    const server = createServer({ headersTimeout: HEADERS_WITHIN_MS, requestTimeout: REQUEST_WITHIN_MS })
    server.maxConnections = CONNECTIONS
    server.on('connection', noteOtherEnd)
    const { host, port } = address
    const name = host.includes(':') ? `[${host}]` : host
    try {
      this.#close = await serveApp(server, this.#app, () => server.listen({ host, port }), CLOSE_WITHIN_MS)
      const url = `http://${name}:${(server.address() as { port: number }).port}/`
      this.pageUrl = { url, why: null }
      if (before !== null) this.#say(`${this.#named.what} is at ${url} now`)
    } catch (error) {
      const why = explain(error as NodeJS.ErrnoException, `${this.#named.key}: ${name}:${port}`)
      this.pageUrl = { url: null, why }
      if (before !== why) this.#say(why)
      this.#again = setTimeout(() => void this.listenAt(this.#address), TRY_AGAIN_MS).unref()
    }
  }
}

function explain({ code, message }: NodeJS.ErrnoException, at: string): string {
  const rest = 'albumd tries again'
  if (code === 'EADDRINUSE') return `${at} is taken; ${rest}. Name another port, or "off"`
  if (code === 'EACCES') return `${at} is not for this user; ${rest}. Name a port from 1024 on`
  if (code === 'EADDRNOTAVAIL') return `${at} is no address of this machine; ${rest}. Name one that is`
  return `${at} can't be listened at (${code ?? message}); ${rest}`
}
