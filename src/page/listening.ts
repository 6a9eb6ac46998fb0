import type { Hono } from 'hono'
import { type Address, type PageServer, servePage } from './server.ts'

/** After how long an address that could not be had is tried again, in milliseconds. */
const AGAIN = 30_000

/** The page's address for a browser. Both null: the config says "off". */
export interface PageUrl {
  url: string | null
  /** Why the page can't be served, for a person. */
  why: string | null
}

/**
 * Serves the page at its address. When the address can't be had, it says so once and tries again; the daemon goes on.
 */
export class Listening {
  readonly #app: Hono
  readonly #say: (line: string) => void
  #address: Address | null = null
  #server: PageServer | null = null
  #why: string | null = null
  #again: NodeJS.Timeout | null = null
  /** Changes of the address are made one after the other. */
  #latest: Promise<void> = Promise.resolve()
  #closed = false

  /** `say` shows a person one line. */
  constructor(app: Hono, say: (line: string) => void) {
    this.#app = app
    this.#say = say
  }

  get pageUrl(): PageUrl {
    return { url: this.#server?.url ?? null, why: this.#why }
  }

  /** Listens at this address alone from here on. Null: at none. */
  at(address: Address | null): Promise<void> {
    return this.#inTurn(async () => {
      if (address?.host === this.#address?.host && address?.port === this.#address?.port) return
      this.#address = address
      this.#why = null
      await this.#hangUp()
      await this.#listen()
    })
  }

  close(): Promise<void> {
    this.#closed = true
    return this.#inTurn(() => this.#hangUp())
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#latest = this.#latest.then(work)
    return this.#latest
  }

  async #hangUp(): Promise<void> {
    if (this.#again) clearTimeout(this.#again)
    this.#again = null
    const server = this.#server
    this.#server = null
    await server?.close()
  }

  async #listen(): Promise<void> {
    const address = this.#address
    if (address === null || this.#closed) return
    try {
      this.#server = await servePage(this.#app, address)
      if (this.#why !== null) this.#say(`the status page is at ${this.#server.url} now`)
      this.#why = null
    } catch (error) {
      const why = explain(error as NodeJS.ErrnoException, address)
      if (this.#why !== why) this.#say(why)
      this.#why = why
      this.#again = setTimeout(() => void this.#inTurn(() => this.#listen()), AGAIN).unref()
    }
  }
}

function explain({ code, message }: NodeJS.ErrnoException, { host, port }: Address): string {
  const at = `status_page.listen: ${host.includes(':') ? `[${host}]` : host}:${port}`
  const rest = 'albumd goes on without its status page, and tries again'
  if (code === 'EADDRINUSE')
    return `${at} is taken by another program, perhaps another albumd; name another port, or "off"; ${rest}`
  if (code === 'EACCES') return `${at} is not for this user; name a port from 1024 on; ${rest}`
  if (code === 'EADDRNOTAVAIL') return `${at} is no address of this machine; name one that is; ${rest}`
  return `${at} can't be listened at (${code ?? message}); ${rest}`
}
