import type { PresignRequest, UploadRequest } from '../protocol/records.ts'

/** More than a connection has under way before an answer that came twice is met. */
const KNOWN = 1000

/** What the latest credentials were asked for, by their addresses. */
export class KnownCredentials {
  readonly #requests = new Map<string, string>()

  add(uploadUrl: string, request: UploadRequest | PresignRequest): void {
    this.#requests.set(uploadUrl, JSON.stringify(request))
    const [oldest] = this.#requests.keys()
    if (this.#requests.size > KNOWN) this.#requests.delete(oldest!)
  }

  /** Whether it was asked for something else: then an answer came twice, and this is not the credential for `request`. */
  isForAnother(uploadUrl: string, request: UploadRequest | PresignRequest): boolean {
    const known = this.#requests.get(uploadUrl)
    return known !== undefined && known !== JSON.stringify(request)
  }
}
