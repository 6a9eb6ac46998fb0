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
 * How many pictures in a row must contradict what albumd has learned about the dimensions of their kind, before albumd learns
 * something else.
 */
const ENOUGH = 3

/**
 * How long a learned `skip` is used without doubt. The host never refuses `skip`, so only a try with dimensions can show that
 * the host takes dimensions.
 */
const SKIP_FOR_MS = 86_400_000

/**
 * How the dimensions of one picture are declared, try after try (§4.1, §4.2). The first try follows what albumd has learned
 * of the picture's kind. When nothing is learned, it follows the specification: dimensions as stored, and none for an SVG or
 * a TIFF. When the host refuses a declaration, the next try uses another reading that declares this picture differently. The
 * last try is `skip`.
 */
export class DeclaredDimensions {
  /** The declared MIME type, and the type of the bytes when that is another one. What is learned is recorded by the kind. */
  readonly kind: string
  /** `undeclared` comes first, when the type allows it, and `skip` comes last. */
  readonly #readings: readonly DimensionReading[]
  readonly #refused: DimensionReading[] = []
  readonly #learns: boolean
  readonly #picture: Picture
  readonly #known: LearnedDimensions
  #reading: DimensionReading

  constructor({ synced, clock, dimensions, uploadForm }: DimensionsContext, picture: Picture, mime: string) {
    // In the form of §4.3 no dimensions are declared.
    const setting = uploadForm === 'presign' ? 'skip' : dimensions
    this.kind = mime === picture.mime ? mime : `${mime} (${picture.mime})`
    this.#picture = picture
    this.#readings = readingsOf(picture, mime, setting)
    // With `stored` and `turned` too: a host that refuses what the config says must not cost each picture two credentials.
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
   * Whether the answer to this picture decides how others of its kind are declared. Such pictures are sent one after the
   * other, so that only the first picture costs several credentials.
   */
  decides(): boolean {
    const { reading, rival } = this.#known
    const isOpen = reading === null && tellsApart(this.#readings)
    return this.#learns && (isOpen || (rival !== undefined && this.#gives(rival.reading) !== this.#reading))
  }

  /** The host refused. Answers whether something else can be declared. */
  refused({ remedy, code }: HostFailure): boolean {
    if (remedy !== 'other_dimensions' || this.#reading === 'skip') return false
    this.#refused.push(this.#reading)
    const left = this.#readings.filter(reading => !this.#refused.includes(reading))
    // The host read other dimensions, or wants dimensions. Any other refusal is about the picture itself.
    const wantsOthers =
      code === 'DIMENSION_MISMATCH' || (this.#reading === 'undeclared' && code !== 'UNREADABLE_DIMENSION')
    this.#reading = (wantsOthers && left[0]) || 'skip'
    return true
  }

  /** Records what the acknowledged upload teaches. */
  acknowledged(tx: Tx, now: number): void {
    const taught = this.#learns ? this.#teach(knownOf(tx, this.kind, now), now) : null
    if (taught) tx.meta.set('dimensions', { ...tx.meta.get('dimensions'), [this.kind]: taught })
  }

  /**
   * What is known of the kind after this upload; null when nothing changes.
   *
   * While nothing is known, one upload is enough: the first turned JPEG that is taken as stored, or refused as stored and
   * taken as turned. A picture whose readings are all the same shows nothing. A learned reading is replaced only after
   * `ENOUGH` pictures in a row were refused with it and taken with the same other reading, because a single picture may be
   * corrupt. `skip` is learned in the same way, because the host takes any picture with it.
   */
  #teach({ reading, since, rival }: LearnedDimensions, now: number): LearnedDimensions | null {
    const taken = this.#reading
    const expected = reading && this.#gives(reading)
    if (taken === 'skip' && this.#refused.length === 0) return null
    const isNews = reading === null && taken !== 'skip'
    if (isNews && tellsApart(this.#readings)) return { reading: taken, since: now }
    if (isNews || taken === expected)
      return rival && this.#gives(rival.reading) !== taken ? { reading, since } : null
    // While this upload was under way, another upload has changed what is known.
    if (expected !== null && !this.#refused.includes(expected)) return null
    const pictures = rival?.reading === taken ? rival.pictures + 1 : 1
    return pictures < ENOUGH
      ? { reading, since, rival: { reading: taken, pictures } }
      : { reading: taken, since: now }
  }

  /** Which of this picture's own readings is used for a learned reading. */
  #gives(reading: DimensionReading): DimensionReading {
    return readAs(reading, this.#readings)
  }
}

const UNKNOWN: LearnedDimensions = { reading: null, since: 0 }

/**
 * What is known of a kind. An old `skip` is in doubt: dimensions are tried again, and one picture that needs `skip` is enough
 * to learn `skip` again.
 */
function knownOf({ meta }: Pick<Synced, 'meta'>, kind: string, now: number): LearnedDimensions {
  const known = meta.get('dimensions')?.[kind] ?? UNKNOWN
  // A clock that was set back does not delay this.
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
    // The upload node tolerates a difference of a pixel.
    const isTurned = turned && Math.abs(width - height) > DIMENSION_TOLERANCE
    if (!isTurned || setting !== 'turned') readings.push('stored')
    if (isTurned && setting !== 'stored') readings.push('turned')
  }
  return [...readings, 'skip']
}

/** Whether the answer to a picture with these readings tells how others of its kind are to be declared. */
function tellsApart([first, ...others]: readonly DimensionReading[]): boolean {
  return first === 'undeclared' || others.length > 1
}

/**
 * Which of a picture's own readings is used when `reading` was learned for its kind. `readings`: the picture's own readings.
 */
function readAs(reading: DimensionReading | null, readings: readonly DimensionReading[]): DimensionReading {
  if (reading === null) return readings[0]!
  if (readings.includes(reading)) return reading
  // A picture that EXIF does not turn is declared as it is stored. For a picture without dimensions, only `skip` is left.
  return reading === 'turned' && readings.includes('stored') ? 'stored' : 'skip'
}
