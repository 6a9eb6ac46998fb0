import { systemClock } from '../../protocol/clock.ts'
import { inspectPicture } from '../../protocol/picture/picture.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { Downloaded, Downloads } from '../../remote/download.ts'
import { backoffMs } from '../../remote/gate/outage.ts'
import { dimensionsFit, featuresOf, mostBytes } from '../../sync/listing/index.ts'
import type { Given } from '../../synced/tables/images.ts'
import { inWords } from '../../words/reasons.ts'
import { alterationOf, isShapedAs, mayBeAltered } from './altered.ts'
import { PictureProblem } from './picture-problem.ts'
import { type BegunFile, bytesOf, ENCODED, type Known, SENT, sizeIs } from './place-files.ts'

const TRIES = 5
const PATIENCE = { random: Math.random, maxDelayMs: 10_000 }

/** The most bytes that are fetched: of an image that is listed without a size, and of an image that the host may have altered. */
const MOST_UNKNOWN = 2 ** 32
const MOST_ALTERED = 64 * 2 ** 20

/** Fetches a picture into a file and compares it. Null: `signal` has ended this. Throws PictureProblem and the disk's errors. */
export async function fetchPicture(
  downloads: Downloads,
  url: string,
  known: Known,
  file: BegunFile,
  signal: AbortSignal,
): Promise<Given | null> {
  const size = mostOf(known)
  for (let tries = 1; ; tries++) {
    const take = (chunk: Uint8Array) => file.write(chunk)
    const got = await downloads.fetch({ url, size, afresh: tries > 1, take }, signal)
    if (!got.ok && got.code === 'CANCELLED') return null
    const problem = await compared(got, known, file)
    if (!(problem instanceof PictureProblem)) return problem
    // From the second try on, caches are asked to fetch anew, because a cache on the way may have given the wrong answer.
    if (tries >= triesFor(problem)) throw problem
    file.empty()
    const asked = got.ok ? got.retryAfterMs : null
    if (problem.isOutage) await systemClock.sleep(backoffMs(tries, asked, PATIENCE), signal)
    if (signal.aborted) return null
  }
}

/** The most bytes that are fetched of a picture. A host that encodes pictures anew may make them larger. */
function mostOf(known: Known): number {
  if ('listed' in known) return Math.ceil(mostBytes(known.listed.size ?? '') ?? MOST_UNKNOWN)
  const most = Math.max(...bytesOf(known).map(({ size }) => size))
  return known.image && mayBeAltered(known.image) ? Math.max(most, MOST_ALTERED) : most
}

function triesFor({ code, isOutage }: PictureProblem): number {
  if (code === 'HOST_ADDRESS' || code === 'HOST_TLS') return 1
  return isOutage ? TRIES : 2
}

async function compared(
  got: Exclude<Downloaded, { code: 'CANCELLED' }>,
  known: Known,
  file: BegunFile,
): Promise<Given | PictureProblem> {
  if (!got.ok) {
    const isOutage = got.code !== 'HOST_ADDRESS' && got.code !== 'OTHER_BYTES'
    return new PictureProblem(got.code, inWords(got.message), isOutage)
  }
  const { status } = got
  if (status === 200) {
    const { size, sha256: hash } = got
    if ('listed' in known) {
      const given = await asListed(known.listed, size, file)
      return typeof given === 'string' ? new PictureProblem('OTHER_BYTES', given) : { hash, size, ...given }
    }
    const same = bytesOf(known).find(bytes => bytes.hash.equals(hash))
    if (same) return same
    const altered = known.image ? await alterationOf(known.image, file) : null
    return altered ? { hash, size, ...altered } : new PictureProblem('OTHER_BYTES', otherBytes(known, got))
  }
  if (status === 404 || status === 410)
    return new PictureProblem('NOT_FOUND', `the host does not have the image (${status})`)
  const address = 'the delivery address'
  if (status >= 300 && status < 400)
    return new PictureProblem(
      'HOST_REDIRECT',
      `${address} redirects (${status}), and no redirect is followed`,
    )
  const isOutage = status === 408 || status === 429 || status >= 500
  return new PictureProblem('HOST_ANSWER', `${address} answered ${status}`, isOutage)
}

function otherBytes(
  { size, isLinked = false }: Extract<Known, { sha256: Buffer }>,
  got: { size: number },
): string {
  const delivered =
    got.size > size
      ? `more than the ${size} bytes that are recorded`
      : got.size < size
        ? `${got.size} bytes, and ${size} are recorded`
        : 'other bytes than the recorded ones'
  return `the host delivers ${delivered}${isLinked ? '; it was only linked to that image' : ''}`
}

/** What the host has made of a picture of which only its listing tells; as a text, why this is another. Where the size is another
 * one, the host may list what it was sent and deliver what it makes of that. Only a whole picture counts then: a cache may give
 * the beginning of one. */
async function asListed(
  listed: ListedImage,
  size: number,
  file: BegunFile,
): Promise<typeof SENT | typeof ENCODED | string> {
  const { picture, verdict } = await inspectPicture(file)
  const { width, height } = listed
  const isSent = sizeIs({ listed }, size)
  if (!isSent && (picture === null || verdict.kind !== 'closed'))
    return `the host delivers ${size} bytes, and lists ${listed.size}`
  if (picture === null) return 'the host delivers something that is no picture'
  if (dimensionsFit(listed, featuresOf(picture))) return isSent ? SENT : ENCODED
  if (!isSent && width && height && isShapedAs(picture, { width, height, mime: picture.mime })) return ENCODED
  return `the host delivers ${picture.width} × ${picture.height} pixels, and lists ${width} × ${height}`
}
