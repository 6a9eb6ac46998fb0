import type { Downloaded, Downloads } from '../../remote/download.ts'
import { backoffMs } from '../../remote/gate/outage.ts'
import type { Clock } from '../../sync/clock.ts'
import type { BegunFile } from './place-files.ts'
import type { Missing } from './restore-event.ts'

export interface FetchOptions {
  downloads: Downloads
  clock: Clock
  /** From 0 to 1. */
  random: () => number
}

/** `outage`: the host or the network failed, so the next picture may fail too. */
export type Fetched =
  | { kind: 'complete' }
  | ({ kind: 'missing'; outage: boolean } & Pick<Missing, 'code' | 'message'>)
  | { kind: 'cancelled' }

const TRIES = 5
const MAX_DELAY_MS = 10_000

/** Fetches a picture into a file and compares its SHA-256. It tries several times where that may help. */
export async function fetchPicture(
  { downloads, clock, random }: FetchOptions,
  url: string,
  { size, sha256 }: { size: number; sha256: Buffer },
  file: BegunFile,
  signal: AbortSignal,
): Promise<Fetched> {
  for (let tries = 1; ; tries++) {
    const take = (chunk: Uint8Array) => file.write(chunk)
    const got = await downloads.fetch({ url, size, afresh: tries > 1, take }, signal)
    if (got.kind === 'cancelled') return got
    if (got.kind === 'answer' && got.status === 200 && got.size === size && got.sha256.equals(sha256))
      return { kind: 'complete' }
    const fetched = missing(got, size)
    // A cache on the way may have answered. The second request asks caches to fetch the picture again.
    if (tries >= triesFor(fetched)) return fetched
    file.empty()
    const asked = got.kind === 'answer' ? got.retryAfterMs : null
    if (fetched.outage)
      await clock.sleep(backoffMs(tries, asked, { random, maxDelayMs: MAX_DELAY_MS }), signal)
    if (signal.aborted) return { kind: 'cancelled' }
  }
}

function triesFor({ code, outage }: Fetched & { kind: 'missing' }): number {
  if (code === 'HOST_ADDRESS' || code === 'HOST_TLS') return 1
  return outage ? TRIES : 2
}

function missing(
  got: Exclude<Downloaded, { kind: 'cancelled' }>,
  size: number,
): Fetched & { kind: 'missing' } {
  const because = (code: Missing['code'], message: string, outage = false) =>
    ({ kind: 'missing', code, message, outage }) as const
  if (got.kind === 'failed')
    return because(got.code, got.message, got.code !== 'HOST_ADDRESS' && got.code !== 'OTHER_BYTES')
  const { status } = got
  if (status === 200)
    return because(
      'OTHER_BYTES',
      got.size > size
        ? `the host delivers more than the ${size} bytes that are recorded`
        : got.size < size
          ? `the host delivers ${got.size} bytes, and ${size} are recorded`
          : 'the host delivers other bytes than the recorded ones',
    )
  if (status === 404 || status === 410) return because('NOT_FOUND', `the host does not have it (${status})`)
  if (status >= 300 && status < 400)
    return because('HOST_REDIRECT', `its delivery address redirects (${status}), and no redirect is followed`)
  return because(
    'HOST_ANSWER',
    `its delivery address answered ${status}`,
    status === 408 || status === 429 || status >= 500,
  )
}
