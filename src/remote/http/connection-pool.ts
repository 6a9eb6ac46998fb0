import { Client } from 'undici'

/** Connections to whatever origin, each for one request at a time. */
export class ConnectionPool {
  readonly #options: Client.Options
  /** Between two requests, by origin. */
  readonly #idle = new Map<string, Set<Client>>()
  readonly #all = new Set<Client>()
  #closed = false

  constructor(options: Client.Options) {
    this.#options = options
  }

  /** One on which nothing was ever sent. undici connects it when it has a request. */
  open(origin: string): Client {
    const client = new Client(origin, this.#options)
    this.#all.add(client)
    // Then it answers every request with an error.
    if (this.#closed) void client.destroy()
    client.on('disconnect', () => {
      if (this.#idle.get(origin)?.has(client)) this.drop(origin, client)
    })
    return client
  }

  /** One that was kept, else a new one. */
  take(origin: string): Client {
    const [kept] = this.#idle.get(origin) ?? []
    if (!kept) return this.open(origin)
    this.#forgetIdle(origin, kept)
    return kept
  }

  /** It may carry another request, for as long as the host keeps it open. */
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
