import type { Downloaded, Downloads } from '../../remote/download.ts'
import { backoffMs } from '../../remote/gate/outage.ts'
import { systemClock } from '../../sync/clock.ts'
import { inWords } from '../../words/reasons.ts'
import type { BegunFile } from './place-files.ts'
import { PictureProblem } from './target-folder.ts'

const TRIES = 5
const PATIENCE = { random: Math.random, maxDelayMs: 10_000 }

/**
 * Fetches a picture into a file and compares its SHA-256. It tries several times where that may help. False: `signal` cut
 * it off. Throws PictureProblem.
 */
export async function fetchPicture(
  downloads: Downloads,
  url: string,
  { size, sha256 }: { size: number; sha256: Buffer },
  file: BegunFile,
  signal: AbortSignal,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const take = (chunk: Uint8Array) => file.write(chunk)
    const got = await downloads.fetch({ url, size, afresh: tries > 1, take }, signal)
    if (got.kind === 'cancelled') return false
    if (got.kind === 'answer' && got.status === 200 && got.size === size && got.sha256.equals(sha256))
      return true
    const problem = problemOf(got, size)
    // A cache on the way may have answered. The second request asks caches to fetch the picture again.
    if (tries >= triesFor(problem)) throw problem
    file.empty()
    const asked = got.kind === 'answer' ? got.retryAfterMs : null
    if (problem.isOutage) await systemClock.sleep(backoffMs(tries, asked, PATIENCE), signal)
    if (signal.aborted) return false
  }
}

function triesFor({ code, isOutage }: PictureProblem): number {
  if (code === 'HOST_ADDRESS' || code === 'HOST_TLS') return 1
  return isOutage ? TRIES : 2
}

function problemOf(got: Exclude<Downloaded, { kind: 'cancelled' }>, size: number): PictureProblem {
  if (got.kind === 'failed') {
    const isOutage = got.code !== 'HOST_ADDRESS' && got.code !== 'OTHER_BYTES'
    return new PictureProblem(got.code, inWords(got.message), isOutage)
  }
  const { status } = got
  if (status === 200)
    return new PictureProblem(
      'OTHER_BYTES',
      got.size > size
        ? `the host delivers more than the ${size} bytes that are recorded`
        : got.size < size
          ? `the host delivers ${got.size} bytes, and ${size} are recorded`
          : 'the host delivers other bytes than the recorded ones',
    )
  if (status === 404 || status === 410)
    return new PictureProblem('NOT_FOUND', `the host does not have it (${status})`)
  const address = 'its delivery address'
  if (status >= 300 && status < 400)
    return new PictureProblem(
      'HOST_REDIRECT',
      `${address} redirects (${status}), and no redirect is followed`,
    )
  const isOutage = status === 408 || status === 429 || status >= 500
  return new PictureProblem('HOST_ANSWER', `${address} answered ${status}`, isOutage)
}
