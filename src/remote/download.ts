import { createHash } from 'node:crypto'
import { because, codeOf, type Reason } from '../words/reasons.ts'
import { paceOf } from './gate/rate-window.ts'
import type { Delivered } from './host.ts'
import { type Address, deliveryAddress, parseAddress, wholeAddress } from './http/address.ts'
import type { HttpOptions, HttpRequest, TransportError } from './http/exchange.ts'
import { Http } from './http/http.ts'

export type Downloaded =
  | (Extract<Delivered, { ok: true }> & { retryAfterMs: number | null })
  /** OTHER_BYTES: far more bytes came than the picture has, so albumd closed the connection. */
  | { ok: false; code: TransportError['code'] | 'HOST_ADDRESS' | 'OTHER_BYTES'; message: Reason }
  | { ok: false; code: 'CANCELLED'; message: Reason }

export interface DownloadRequest {
  url: string
  /** The picture's size in bytes. `take` gets no more bytes than this. */
  size: number
  /** Whether caches on the way are asked to fetch the picture from the host again. */
  afresh: boolean
  /** Gets the picture's bytes. An error that `take` throws ends the download, and `fetch` rejects with it. */
  take: (chunk: Uint8Array) => void
}

export type Downloads = ReturnType<typeof openDownloads>

export interface DownloadOptions extends HttpOptions {
  /** {base_url}. A delivery address may be plain HTTP when both addresses are loopback addresses (§5.4). */
  baseUrl: string
}

/** The most bytes of an answer when the picture is smaller: it may be an error page. */
const OTHER_MAX = 2 ** 20
/** The slowest download, in bytes a second. It may take this time for its bytes, and at least `LEAST_LIMIT_MS`. */
const SLOWEST = 4096
const LEAST_LIMIT_MS = 600_000

/** Fetches pictures from their delivery addresses, for a restore or a thumbnail. */
export function openDownloads({ baseUrl, ...options }: DownloadOptions) {
  const base = parseAddress(new URL(baseUrl).href)
  if (!base) throw new TypeError('base_url must be a plain address')
  const http = new Http(options)
  return {
    async fetch({ url, size, afresh, take }: DownloadRequest, signal: AbortSignal): Promise<Downloaded> {
      const most = Math.max(size, OTHER_MAX)
      let given = 0
      const request: DeliveryRequest = {
        headers: { 'user-agent': 'albumd', ...(afresh && { 'cache-control': 'no-cache' }) },
        answerMax: most,
        limitMs: LEAST_LIMIT_MS + (size / SLOWEST) * 1000,
        onChunk(chunk) {
          given += chunk.byteLength
          if (given <= size) take(chunk)
        },
        isOwn: answer => answer.kind === 'answer' && answer.status === 200 && given === size,
      }
      const got = await download(http, base, url, request, signal)
      if (got.ok || codeOf(got.message) !== 'answer_too_long') return got
      return { ok: false, code: 'OTHER_BYTES', message: because('delivers_more', { most }) }
    },
    close: () => http.close(),
  }
}

type DeliveryRequest = Omit<HttpRequest, 'method' | 'address' | 'body'>

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const REDIRECTS_MOST = 3

/** Fetches a delivery address and hashes the bytes. Sends no API key. Follows redirects to addresses that may be used (§5.4).
 * `base`: {base_url}, which decides whether a loopback address may be used. Rejects with the error that `onChunk` throws. */
export async function download(
  http: Http,
  base: Address,
  url: string,
  request: DeliveryRequest,
  signal: AbortSignal,
): Promise<Downloaded> {
  const sum = createHash('sha256')
  let size = 0
  const onChunk = (chunk: Uint8Array) => {
    request.onChunk?.(chunk)
    sum.update(chunk)
    size += chunk.byteLength
  }
  // Asks for an uncompressed answer: a cache may hold the image compressed, and the hash must be that of the image.
  const headers = { ...request.headers, 'accept-encoding': 'identity' }
  let [next, field] = [url, 'cdn_url']
  for (let redirects = 0; ; redirects++) {
    const usable = deliveryAddress(next, base)
    const address = usable && parseAddress(usable)
    if (!address) return { ok: false, code: 'HOST_ADDRESS', message: because('address_not_https', { field }) }
    const result = await http.exchange({ ...request, headers, method: 'GET', address, onChunk }, signal)
    if (result.kind === 'cancelled')
      return { ok: false, code: 'CANCELLED', message: because('request_cancelled') }
    if (result.kind === 'silence') return { ok: false, code: result.code, message: result.message }
    const { location } = result.headers
    const leads = location !== undefined && REDIRECTS.has(result.status) && redirects < REDIRECTS_MOST
    if (leads) [next, field] = [wholeAddress(location, address), 'location']
    else {
      const { retryAfterMs } = paceOf(result.headers)
      return { ok: true, status: result.status, size, sha256: sum.digest(), retryAfterMs }
    }
  }
}
