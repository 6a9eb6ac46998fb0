import { createHash } from 'node:crypto'
import { paceOf } from './gate/rate-headers.ts'
import { givenAddress, parseAddress } from './http/address.ts'
import { Http } from './http/http.ts'
import type { TransportError } from './http/transport-errors.ts'

/** An answer whose body is of no use may be this large. */
const OTHER_MAX = 2 ** 20
/** What is slower than this in the mean, after the first minutes, is given up: bytes a second. */
const SLOWEST = 4096
const LEAST_LIMIT_MS = 600_000

/** What a delivery address gave. */
export type Downloaded =
  | {
      kind: 'answer'
      status: number /** Bytes. */
      size: number
      sha256: Buffer
      retryAfterMs: number | null
    }
  /** OTHER_BYTES: far more than was asked for; it was cut off. `message`: a line for a person. */
  | { kind: 'failed'; code: TransportError['code'] | 'HOST_ADDRESS' | 'OTHER_BYTES'; message: string }
  | { kind: 'cancelled' }

export interface DownloadRequest {
  url: string
  /** Of the picture, in bytes. `take` gets no more of them. */
  size: number
  /** Asks caches on the way to look again. */
  afresh: boolean
  /** What it throws ends the download, and is thrown. */
  take: (chunk: Uint8Array) => void
}

/** Fetches pictures from their delivery addresses, without any key. No redirect is followed. */
export interface Downloads {
  fetch(request: DownloadRequest, signal: AbortSignal): Promise<Downloaded>
  close(): Promise<void>
}

export interface DownloadOptions {
  /** {base_url}: only where it is loopback may an address be of plain HTTP, and loopback too (§5.4). */
  baseUrl: string
  /** PEM of the authorities to trust, instead of those that Node knows. */
  ca?: string
  /** Without progress. */
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
        return { kind: 'failed', code: 'HOST_ADDRESS', message: 'its delivery address is not one of HTTPS' }
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
          // More than a chunk beyond what is taken: it is ended here, and told apart from other trouble.
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
