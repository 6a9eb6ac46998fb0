import type { ByteSource } from '../../protocol/picture/byte-reader.ts'
import { readPicture } from '../../protocol/picture/picture.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { Downloaded, Downloads } from '../../remote/download.ts'
import { backoffMs } from '../../remote/gate/outage.ts'
import { systemClock } from '../../sync/clock.ts'
import { dimensionsFit, mostBytes, sizeFits } from '../../sync/listing/index.ts'
import { inWords } from '../../words/reasons.ts'
import type { BegunFile } from './place-files.ts'
import { PictureProblem } from './target-folder.ts'

const TRIES = 5
const PATIENCE = { random: Math.random, maxDelayMs: 10_000 }

/** What must be delivered. */
export interface Expected {
  /** The most bytes that the picture can have. */
  most: number
  /** What is wrong with the bytes that were delivered. Null: they are the picture. */
  faultOf(got: { size: number; sha256: Buffer }): Promise<string | null>
}

/** A picture of which every byte is known. */
export function exactly({ size, sha256 }: { size: number; sha256: Buffer }): Expected {
  return {
    most: size,
    async faultOf(got) {
      if (got.size > size) return `the host delivers more than the ${size} bytes that are recorded`
      if (got.size < size) return `the host delivers ${got.size} bytes, and ${size} are recorded`
      return got.sha256.equals(sha256) ? null : 'the host delivers other bytes than the recorded ones'
    },
  }
}

/** The most bytes of an image that is listed without a size. */
const MOST_UNKNOWN = 2 ** 32

/** A picture of which only the listing is known: its size, rounded, and its dimensions. `file`: what was delivered. */
export function pictureLike(listed: ListedImage, file: ByteSource): Expected {
  const { size: printed = '' } = listed
  return {
    most: Math.ceil(mostBytes(printed) ?? MOST_UNKNOWN),
    async faultOf({ size }) {
      if (!sizeFits(printed, size)) return `the host delivers ${size} bytes, and lists ${printed}`
      const picture = await readPicture(file)
      if (picture === null) return 'the host delivers something that is no picture'
      if (dimensionsFit(listed, picture)) return null
      return `the host delivers ${picture.width} × ${picture.height} pixels, and lists ${listed.width} × ${listed.height}`
    },
  }
}

/**
 * Fetches a picture into a file and compares it with what is expected. It tries several times where that may help. False:
 * `signal` cut it off. Throws PictureProblem.
 */
export async function fetchPicture(
  downloads: Downloads,
  url: string,
  expected: Expected,
  file: BegunFile,
  signal: AbortSignal,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const take = (chunk: Uint8Array) => file.write(chunk)
    const got = await downloads.fetch({ url, size: expected.most, afresh: tries > 1, take }, signal)
    if (got.kind === 'cancelled') return false
    const isWhole = got.kind === 'answer' && got.status === 200
    const fault = isWhole ? await expected.faultOf(got) : null
    if (isWhole && fault === null) return true
    const problem = fault === null ? problemOf(got) : new PictureProblem('OTHER_BYTES', fault)
    // A cache on the way may have answered. The second request asks caches to fetch the picture again.
    if (tries >= triesFor(problem)) throw problem
    file.empty()
    const asked = got.kind === 'answer' ? got.retryAfterMs : null
    if (problem.isOutage) await systemClock.sleep(backoffMs(tries, asked, PATIENCE), signal)
    if (signal.aborted) return false
  }
}

/** After so many failures of the host or the network in a row, a restore stops. */
const OUTAGES_MAX = 10

/** Counts failures that concern every picture. */
export class Outages {
  #inARow = 0

  /** Why the restore stops; null: it goes on. */
  failed({ isOutage, message }: PictureProblem): string | null {
    this.#inARow = isOutage ? this.#inARow + 1 : 0
    return this.#inARow >= OUTAGES_MAX
      ? `${message}; run the same command again later: it goes on where it was`
      : null
  }

  passed(): void {
    this.#inARow = 0
  }
}

function triesFor({ code, isOutage }: PictureProblem): number {
  if (code === 'HOST_ADDRESS' || code === 'HOST_TLS') return 1
  return isOutage ? TRIES : 2
}

function problemOf(got: Exclude<Downloaded, { kind: 'cancelled' }>): PictureProblem {
  if (got.kind === 'failed') {
    const isOutage = got.code !== 'HOST_ADDRESS' && got.code !== 'OTHER_BYTES'
    return new PictureProblem(got.code, inWords(got.message), isOutage)
  }
  const { status } = got
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
