import { createHash } from 'node:crypto'
import { paceOf } from './gate/rate-window.ts'
import type { Delivered } from './host.ts'
import { type Address, givenAddress, parseAddress } from './http/address.ts'
import { Http } from './http/http.ts'
import type { TransportError } from './http/transport-errors.ts'

/** An answer that is not the picture, such as an error page, may have this many bytes. */
const OTHER_MAX = 2 ** 20
/** A download may take `LEAST_LIMIT_MS` plus the time that its bytes need at this many bytes a second. */
const SLOWEST = 4096
const LEAST_LIMIT_MS = 600_000

/**
 * Hashes what a delivery address gives, without storing it and without the API key. An answer above `maxBytes` is cut off.
 * `base`: {base_url}, which decides whether a loopback address may be used (§5.4).
 */
export async function fetchDelivered(
  http: Http,
  base: Address,
  cdnUrl: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Delivered> {
  const address = givenAddress(cdnUrl, base)
  if (!address)
    return { ok: false, code: 'HOST_ADDRESS', message: 'its delivery address is not an HTTPS address' }
  const sum = createHash('sha256')
  let size = 0
  const onChunk = (chunk: Uint8Array) => {
    sum.update(chunk)
    size += chunk.byteLength
  }
  const result = await http.exchange(
    { method: 'GET', address, headers: {}, answerMax: maxBytes, onChunk },
    signal,
  )
  if (result.kind === 'cancelled')
    return { ok: false, code: 'CANCELLED', message: 'the request was cancelled' }
  if (result.kind === 'silence') return { ok: false, code: result.code, message: result.message }
  return { ok: true, status: result.status, size, sha256: sum.digest() }
}

/** The result of a download. */
export type Downloaded =
  | {
      kind: 'answer'
      status: number /** Bytes. */
      size: number
      sha256: Buffer
      retryAfterMs: number | null
    }
  /** OTHER_BYTES: far more bytes came than the picture has; they were cut off. `message`: one line for a person. */
  | { kind: 'failed'; code: TransportError['code'] | 'HOST_ADDRESS' | 'OTHER_BYTES'; message: string }
  | { kind: 'cancelled' }

export interface DownloadRequest {
  url: string
  /** Of the picture, in bytes. `take` gets no more than these. */
  size: number
  /** Asks caches on the way to fetch the picture from the host again. */
  afresh: boolean
  /** Gets the picture's bytes. An error that it throws ends the download, and `fetch` rejects with it. */
  take: (chunk: Uint8Array) => void
}

/** Fetches pictures from their delivery addresses, without the API key. No redirect is followed. */
export interface Downloads {
  fetch(request: DownloadRequest, signal: AbortSignal): Promise<Downloaded>
  close(): Promise<void>
}

export interface DownloadOptions {
  /** {base_url}. Only when it is a loopback address may a delivery address be plain HTTP, and then loopback too (§5.4). */
  baseUrl: string
  /** PEM of the authorities to trust instead of those that Node knows. */
  ca?: string
  /** The longest time without progress. */
  timeoutMs: number
}

export function openDownloads({ baseUrl, ca, timeoutMs }: DownloadOptions): Downloads {
  const base = parseAddress(new URL(baseUrl).href)
  if (!base) throw new TypeError('base_url must be a plain address')
  const http = new Http({ timeoutMs, ...(ca !== undefined && { ca }) })
  return {
    async fetch({ url, size, afresh, take }, signal) {
      const address = givenAddress(url, base)
      if (!address)
        return {
          kind: 'failed',
          code: 'HOST_ADDRESS',
          message: 'its delivery address is not an HTTPS address',
        }
      const sum = createHash('sha256')
      const ended = new AbortController()
      const most = Math.max(size, OTHER_MAX)
      let given = 0
      let error: unknown = null
      const onChunk = (chunk: Uint8Array) => {
        given += chunk.byteLength
        if (given > most) ended.abort()
        if (given > size || ended.signal.aborted) return
        sum.update(chunk)
        try {
          take(chunk)
        } catch (thrown) {
          error = thrown
          ended.abort()
        }
      }
      const result = await http.exchange(
        {
          method: 'GET',
          address,
          headers: {
            'user-agent': 'albumd',
            'accept-encoding': 'identity',
            ...(afresh && { 'cache-control': 'no-cache' }),
          },
          // So much more that `onChunk` always ends the download first, with OTHER_BYTES.
          answerMax: most + OTHER_MAX,
          limitMs: LEAST_LIMIT_MS + (size / SLOWEST) * 1000,
          onChunk,
          isOwn: answer => answer.kind === 'answer' && answer.status === 200 && given === size,
        },
        AbortSignal.any([signal, ended.signal]),
      )
      if (error !== null) throw error
      if (given > most)
        return { kind: 'failed', code: 'OTHER_BYTES', message: `the host delivers more than ${most} bytes` }
      if (result.kind === 'cancelled') return { kind: 'cancelled' }
      if (result.kind === 'silence') return { kind: 'failed', code: result.code, message: result.message }
      const { retryAfterMs } = paceOf(result.headers)
      return { kind: 'answer', status: result.status, size: given, sha256: sum.digest(), retryAfterMs }
    },
    close: () => http.close(),
  }
}
