import { exemptFromDimensions } from '../../protocol/formats.ts'
import { DIMENSION_TOLERANCE } from '../../protocol/limits.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { UploadRequest } from '../../protocol/records.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { DimensionReading, LearnedDimensions } from '../../synced/tables/meta.ts'
import type { EngineContext } from '../context.ts'

export type DimensionsContext = Pick<EngineContext, 'synced' | 'clock' | 'dimensions' | 'uploadForm'>

/**
 * So many pictures in a row must contradict what albumd has learned about the dimensions of their kind, before albumd
 * learns something else.
 */
const ENOUGH = 3

/**
 * How long a learned `skip` is used without a test. The host never refuses `skip`, so only a try with dimensions can show
 * that the host takes dimensions now.
 */
const SKIP_FOR_MS = 86_400_000

/**
 * How the dimensions of one picture are declared, try after try (§4.1, §4.2). The first try follows what albumd has learned
 * of the picture's kind. When nothing is learned, the first try follows the specification: dimensions as stored, and none
 * for an SVG or a TIFF. When the host refuses a declaration, the next try uses another reading that declares this picture
 * differently. The last try is `skip`, which asks the host not to check dimensions.
 */
export class DeclaredDimensions {
  /**
   * The picture's kind, under which albumd records what it learns: the declared MIME type, and the type of the bytes when
   * the two types differ.
   */
  readonly kind: string
  /**
   * The readings in the order in which they are tried. For a type that needs no dimensions, `undeclared` is the first.
   * `skip` is always the last.
   */
  readonly #readings: readonly DimensionReading[]
  readonly #refused: DimensionReading[] = []
  readonly #learns: boolean
  readonly #picture: Picture
  readonly #known: LearnedDimensions
  #reading: DimensionReading

  constructor({ synced, clock, dimensions, uploadForm }: DimensionsContext, picture: Picture, mime: string) {
    // An upload in the form of §4.3 declares no dimensions.
    const setting = uploadForm === 'presign' ? 'skip' : dimensions
    this.kind = mime === picture.mime ? mime : `${mime} (${picture.mime})`
    this.#picture = picture
    this.#readings = readingsOf(picture, mime, setting)
    // albumd also learns when the config says `stored` or `turned`. Otherwise a host that refuses this reading would cost
    // each picture two credentials.
    this.#learns = setting !== 'skip'
    this.#known = this.#learns ? knownOf(synced, this.kind, clock.wall()) : UNKNOWN
    this.#reading = readAs(this.#known.reading, this.#readings)
  }

  /** The fields that step 1 of the upload declares. */
  fields(): Pick<UploadRequest, 'width' | 'height' | 'skip_dimension_check'> {
    const { width, height } = this.#picture
    if (this.#reading === 'skip') return { skip_dimension_check: true }
    if (this.#reading === 'undeclared' || width === null || height === null) return {}
    return this.#reading === 'turned' ? { width: height, height: width } : { width, height }
  }

  /**
   * Whether the host's answer to this picture decides how other pictures of its kind are declared. Then pictures of this
   * kind are sent one after the other, so that only the first of them costs several credentials.
   */
  decides(): boolean {
    const { reading, rival } = this.#known
    const isOpen = reading === null && tellsApart(this.#readings)
    return this.#learns && (isOpen || (rival !== undefined && this.#readAs(rival.reading) !== this.#reading))
  }

  /** Notes that the host refused the declaration. Answers whether something else can be declared. */
  refused({ remedy, code }: HostFailure): boolean {
    if (remedy !== 'other_dimensions' || this.#reading === 'skip') return false
    this.#refused.push(this.#reading)
    const left = this.#readings.filter(reading => !this.#refused.includes(reading))
    // The host read other dimensions, or wants dimensions where none were declared. After any other refusal, other
    // dimensions would not help.
    const wantsOthers =
      code === 'DIMENSION_MISMATCH' || (this.#reading === 'undeclared' && code !== 'UNREADABLE_DIMENSION')
    this.#reading = (wantsOthers && left[0]) || 'skip'
    return true
  }

  /** Records what albumd learns from an acknowledged upload. */
  acknowledged(tx: Tx, now: number): void {
    const taught = this.#learns ? this.#teach(knownOf(tx, this.kind, now), now) : null
    if (taught) tx.meta.set('dimensions', { ...tx.meta.get('dimensions'), [this.kind]: taught })
  }

  /**
   * What is known of the kind after this upload; null when nothing changes.
   *
   * While nothing is known, one upload is enough. An example: a JPEG that EXIF turns is refused as stored and taken as
   * turned, so `turned` is learned. A picture whose readings all declare the same shows nothing. A learned reading is
   * replaced only when the host refused it for `ENOUGH` pictures in a row and took the same other reading for all of them,
   * because a single picture may be corrupt. `skip` needs as many pictures, because the host takes any picture with `skip`.
   */
  #teach({ reading, since, rival }: LearnedDimensions, now: number): LearnedDimensions | null {
    const taken = this.#reading
    const expected = reading && this.#readAs(reading)
    if (taken === 'skip' && this.#refused.length === 0) return null
    const isNews = reading === null && taken !== 'skip'
    if (isNews && tellsApart(this.#readings)) return { reading: taken, since: now }
    if (isNews || taken === expected)
      return rival && this.#readAs(rival.reading) !== taken ? { reading, since } : null
    // Another upload has taught this reading while this upload was under way, so this upload has not tried it.
    if (expected !== null && !this.#refused.includes(expected)) return null
    const pictures = rival?.reading === taken ? rival.pictures + 1 : 1
    return pictures < ENOUGH
      ? { reading, since, rival: { reading: taken, pictures } }
      : { reading: taken, since: now }
  }

  #readAs(reading: DimensionReading): DimensionReading {
    return readAs(reading, this.#readings)
  }
}

const UNKNOWN: LearnedDimensions = { reading: null, since: 0 }

/**
 * What is known of a kind. A `skip` that was learned long ago is tested: dimensions are declared again, and one picture
 * that needs `skip` is enough to learn `skip` again.
 */
function knownOf({ meta }: Pick<Synced, 'meta'>, kind: string, now: number): LearnedDimensions {
  const known = meta.get('dimensions')?.[kind] ?? UNKNOWN
  // After the clock was set back, `since` may lie far in the future. Then the reading is taken as old too.
  const isOld = Math.abs(now - known.since) >= SKIP_FOR_MS
  if (known.reading !== 'skip' || !isOld) return known
  return { ...UNKNOWN, rival: { reading: 'skip', pictures: ENOUGH - 1 } }
}

/** The readings that give different declarations of a picture, in the order in which they are tried. */
function readingsOf(
  { width, height, turned }: Picture,
  mime: string,
  setting: DimensionsContext['dimensions'],
): DimensionReading[] {
  if (setting === 'skip') return ['skip']
  const readings: DimensionReading[] = exemptFromDimensions(mime) ? ['undeclared'] : []
  if (width !== null && height !== null) {
    // The upload node does not mind a difference of one pixel.
    const isTurned = turned && Math.abs(width - height) > DIMENSION_TOLERANCE
    if (!isTurned || setting !== 'turned') readings.push('stored')
    if (isTurned && setting !== 'stored') readings.push('turned')
  }
  return [...readings, 'skip']
}

/** Whether the host's answer to a picture with these readings shows how other pictures of its kind are declared. */
function tellsApart([first, ...others]: readonly DimensionReading[]): boolean {
  return first === 'undeclared' || others.length > 1
}

/**
 * Which of a picture's own readings is used, when albumd has learned `reading` for its kind. `readings`: the picture's own
 * readings. Null: nothing is learned.
 */
function readAs(reading: DimensionReading | null, readings: readonly DimensionReading[]): DimensionReading {
  if (reading === null) return readings[0]!
  if (readings.includes(reading)) return reading
  // A picture that EXIF does not turn is the same in both readings, and only `stored` is among its own. A picture without
  // dimensions can only be declared with `skip`.
  return reading === 'turned' && readings.includes('stored') ? 'stored' : 'skip'
}
