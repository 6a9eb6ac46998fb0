import { FORMATS, imageNameOf } from '../../protocol/formats.ts'
import { DIMENSION_TOLERANCE } from '../../protocol/limits.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { changesOf } from './changed-name.ts'
import { type DeliveryPattern, names } from './delivery.ts'
import { plainName } from './walk.ts'

/** What a listing shows of an open upload. exact: the image whose id the credential named. alike: exactly one image can be its,
 * and no other upload's. unclear: several images or uploads come into question. nothing: no image can be its. */
export type Evidence<Image extends ListedImage> =
  | { kind: 'exact'; image: Image }
  | { kind: 'alike'; image: Image }
  | { kind: 'unclear' }
  | { kind: 'nothing' }

export interface Listing<Image extends ListedImage> {
  /** The listed images that no record names. */
  unrecorded: readonly Image[]
  /** How delivery addresses are built from ids; null when no upload has shown this. */
  pattern: DeliveryPattern | null
  /** Whether images are delivered at the addresses that their credentials named. */
  promisesKept: boolean
  /** Whether the host alters pictures of a type. It may then list their new sizes. */
  isAltered: (mime: string) => boolean
  /** Whether an image with another listed size can still be the upload's. */
  despiteSize: (image: Image, intent: OpenUpload) => boolean
  /** Whether images are listed under the names that they were uploaded with. */
  namesKept: boolean
}

/** Characters. */
const ID_LEAST = 8

/** Compares the open uploads into an album with its listing. One image is evidence of one upload at most. */
export function weighEvidence<Image extends ListedImage>(
  intents: readonly OpenUpload[],
  { unrecorded, pattern, promisesKept, namesKept, isAltered, despiteSize }: Listing<Image>,
): Map<OpenUpload, Evidence<Image>> {
  const evidence = new Map<OpenUpload, Evidence<Image>>()
  const taken = new Set<Image>()
  const idOf = ({ remote_id, cdn_url }: OpenUpload) =>
    remote_id ?? (cdn_url === null ? null : (pattern?.idOf(cdn_url) ?? null))
  for (const intent of intents) {
    const promised = idOf(intent)
    const image = unrecorded.find(({ id }) => (promised === null ? isInAddress(id, intent) : id === promised))
    if (!image) continue
    evidence.set(intent, { kind: 'exact', image })
    taken.add(image)
  }
  // Whether the id of the upload's image is known, so that an image with another id can't be the upload's.
  const exactOnly = (intent: OpenUpload) =>
    intent.remote_id !== null || (promisesKept && idOf(intent) !== null)
  const open = intents.filter(intent => !evidence.has(intent))
  const fits = (intent: OpenUpload, asked: { names: boolean; sizes: boolean }) =>
    exactOnly(intent) ? [] : unrecorded.filter(image => !taken.has(image) && canBe(image, intent, asked))
  const fitting = new Map(
    open.map(intent => [intent, fits(intent, { names: false, sizes: !isAltered(intent.mime) })]),
  )
  const named = (intent: OpenUpload) =>
    fitting.get(intent)!.filter(image => !namesKept || isNamed(image, intent))
  const byName = new Set(open.flatMap(named))
  const renamed = (intent: OpenUpload) => {
    const isChanged = changesOf(imageNameOf(intent.name))
    return fitting.get(intent)!.filter(image => !byName.has(image) && isChanged(image.name ?? ''))
  }
  const sized = open.map(
    intent => [intent, named(intent).length > 0 ? named(intent) : renamed(intent)] as const,
  )
  const bySize = new Set(sized.flatMap(([, images]) => images))
  const unsized = (intent: OpenUpload) =>
    fits(intent, { names: true, sizes: false }).filter(
      image => !bySize.has(image) && despiteSize(image, intent),
    )
  const possible = new Map(
    sized.map(([intent, images]) => [intent, images.length > 0 ? images : unsized(intent)]),
  )
  for (const intent of open) {
    const images = possible.get(intent)!
    const rivals = open.filter(other => possible.get(other)!.some(image => images.includes(image)))
    const [only] = images
    if (!only) evidence.set(intent, { kind: 'nothing' })
    else if (images.length === 1 && rivals.length === 1) evidence.set(intent, { kind: 'alike', image: only })
    else evidence.set(intent, { kind: 'unclear' })
  }
  return evidence
}

/** Whether the promised address holds an image's id. A short id may stand in it by chance. */
function isInAddress(id: string, { cdn_url }: OpenUpload): boolean {
  return id.length >= ID_LEAST && names(cdn_url, id)
}

/** What a picture's own bytes tell. */
interface OwnFeatures {
  /** Pixels; null when they are not known. */
  width: number | null
  height: number | null
  /** The MIME type of its bytes. */
  mime: string
  /** Whether EXIF turns it by 90°, so that width and height change places; undefined when that is not known. */
  turned?: boolean | undefined
}

export interface Features extends OwnFeatures {
  name: string
  /** Bytes. */
  size: number
}

/** Whether a listed image can be this picture. What the listing does not show, and `false`, rules nothing out. */
export function canBe(
  listed: ListedImage,
  picture: Features,
  { names = true, sizes = true }: { names?: boolean; sizes?: boolean } = {},
): boolean {
  const isSize = !sizes || listed.size === undefined || sizeFits(listed.size, picture.size)
  return isSize && dimensionsFit(listed, picture) && (!names || mayBeNamed(listed, picture))
}

/** Whether an image is listed under the picture's name, or under a name that a host may have made of it. */
export function mayBeNamed(listed: ListedImage, { name }: { name: string }): boolean {
  return isNamed(listed, { name }) || changesOf(imageNameOf(name))(listed.name ?? '')
}

function isNamed({ name: listed }: ListedImage, { name }: { name: string }): boolean {
  return listed === undefined || plainName(listed) === plainName(imageNameOf(name))
}

/** Pixels. Undefined or null when they are not known. */
interface Dimensions {
  width?: number | null | undefined
  height?: number | null | undefined
}

/** Whether listed dimensions can be the picture's, also after EXIF turned it. Unknown dimensions rule nothing out. */
export function dimensionsFit(listed: Dimensions, picture: OwnFeatures): boolean {
  const near = (a: number | null | undefined, b: number | null | undefined) =>
    a == null || b == null || Math.abs(a - b) <= DIMENSION_TOLERANCE
  const { width, height } = picture
  const fits = near(listed.width, width) && near(listed.height, height)
  return fits || (mayBeTurned(picture) && near(listed.width, height) && near(listed.height, width))
}

/** The formats whose files can hold EXIF, by their MIME types. */
const WITH_EXIF: ReadonlySet<string> = new Set(
  [FORMATS.jpeg, FORMATS.tiff, FORMATS.webp, FORMATS.png].map(({ mime }) => mime),
)

function mayBeTurned({ mime, turned }: OwnFeatures): boolean {
  return turned ?? WITH_EXIF.has(mime)
}

/** What a picture's own bytes tell. Whether EXIF turns it is read only of JPEGs. */
export function featuresOf({ width, height, mime, turned }: Picture): OwnFeatures {
  return { width, height, mime, turned: mime === FORMATS.jpeg.mime ? turned === true : undefined }
}

const PRINTED = /^\s*(\d+(?:[.,]\d+)?)\s*(bytes?|b|[kmgt]i?b?)\s*$/i
const POWERS = 'bkmgt'

export function sizeFits(printed: string, bytes: number): boolean {
  const meanings = meaningsOf(printed)
  return meanings === null || meanings.some(([least, most]) => least <= bytes && bytes <= most)
}

/** Whether a listed size proves this number of bytes. A size of 0 does not. */
export function sizeProves(printed: string | undefined, bytes: number): boolean {
  return (
    printed !== undefined && /[1-9]/.test(printed) && meaningsOf(printed) !== null && sizeFits(printed, bytes)
  )
}

/** Whether an image is only promised: a host may list images from step 1 on, before it has their bytes. */
export function isPromised({ size }: ListedImage): boolean {
  const most = size === undefined ? null : mostBytes(size)
  return most !== null && most <= 1
}

/** The most bytes that a listed size can mean; null when the size is not understood. */
export function mostBytes(printed: string): number | null {
  const meanings = meaningsOf(printed)
  return meanings && Math.max(...meanings.map(([, most]) => most))
}

/** The least and the most bytes of each meaning. §2 shows "1.2 MB", and tells neither rounding nor base. Null: not understood. */
function meaningsOf(printed: string): [least: number, most: number][] | null {
  const parts = PRINTED.exec(printed)
  if (!parts) return null
  const power = POWERS.indexOf(parts[2]![0]!.toLowerCase())
  const [whole, fraction = ''] = parts[1]!.split(/[.,]/)
  const digits = fraction.length
  // "1,234" may mean 1234 or 1.234, depending on the country.
  const numbers = digits === 3 ? [`${whole}.${fraction}`, `${whole}${fraction}`] : [`${whole}.${fraction}`]
  return numbers.flatMap(number =>
    [1000, 1024].map((base): [number, number] => {
      const unit = base ** power
      const middle = Number(number) * unit
      const off = number.includes('.') ? unit / 10 ** digits : unit
      return [middle - off, middle + off]
    }),
  )
}
