import { secretsOfAddress } from './http/message.ts'

/** What may stand in no message: the API key, and what the addresses of credentials hold as long as they can be used. */
export class Secrets implements Iterable<string> {
  readonly #apiKey: string
  readonly #uploadUrls = new Set<string>()

  constructor(apiKey: string) {
    this.#apiKey = apiKey
  }

  add(uploadUrl: string): void {
    this.#uploadUrls.add(uploadUrl)
  }

  forget(uploadUrl: string): void {
    this.#uploadUrls.delete(uploadUrl)
  }

  *[Symbol.iterator](): Iterator<string> {
    yield this.#apiKey
    for (const url of this.#uploadUrls) yield* secretsOfAddress(url)
  }
}
