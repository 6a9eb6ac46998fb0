import { DIMENSION_TOLERANCE } from '../../protocol/limits.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { DeliveryPattern } from './compare-bytes.ts'

/**
 * What a listing shows of one open upload.
 * exact: this is the image that its credential named. alike: the one image that can be it, and it can be no other
 * upload's. unclear: something can be it, and more than one thing can be meant. nothing: none of the images can be it.
 */
export type Evidence<Image extends ListedImage> =
  | { kind: 'exact'; image: Image }
  | { kind: 'alike'; image: Image }
  | { kind: 'unclear' }
  | { kind: 'nothing' }

export interface Listing<Image extends ListedImage> {
  /** The images that no record of ours accounts for. */
  unaccounted: readonly Image[]
  /** How delivery addresses are built, where that is known. */
  pattern: DeliveryPattern | null
  /** Whether images are delivered at the address that their credential tells. */
  promisesKept: boolean
  /** Whether images are listed under the names that they were uploaded with. */
  namesKept: boolean
}

/** Weighs open uploads to one album against its listing. One image is evidence of one upload. */
export function weighEvidence<Image extends ListedImage>(
  intents: readonly OpenUpload[],
  { unaccounted, pattern, promisesKept, namesKept }: Listing<Image>,
): Map<OpenUpload, Evidence<Image>> {
  const evidence = new Map<OpenUpload, Evidence<Image>>()
  const taken = new Set<Image>()
  for (const intent of intents) {
    const id = intent.remote_id ?? (intent.cdn_url === null ? null : (pattern?.idOf(intent.cdn_url) ?? null))
    const image = id === null ? undefined : unaccounted.find(listed => listed.id === id)
    if (!image) continue
    evidence.set(intent, { kind: 'exact', image })
    taken.add(image)
  }
  // With its id known, an image of another id is not the one that was promised.
  const exactOnly = ({ remote_id, cdn_url }: OpenUpload) =>
    remote_id !== null || (promisesKept && cdn_url !== null && (pattern?.idOf(cdn_url) ?? null) !== null)
  const open = intents.filter(intent => !evidence.has(intent))
  const possible = new Map(
    open.map(intent => [
      intent,
      exactOnly(intent)
        ? []
        : unaccounted.filter(image => !taken.has(image) && canBe(image, intent, namesKept)),
    ]),
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

/** What a picture of ours is known by in a listing. */
export interface Features {
  name: string
  /** Bytes. */
  size: number
  /** Pixels; null where they are not known. */
  width: number | null
  height: number | null
}

/**
 * Whether a listed image can be this picture. What the listing does not say excludes nothing. `names`: false where the
 * host is known to change names.
 */
export function canBe(listed: ListedImage, picture: Features, names = true): boolean {
  if (names && listed.name !== undefined && listed.name.normalize() !== picture.name.normalize()) return false
  return dimensionsFit(listed, picture) && (listed.size === undefined || sizeFits(listed.size, picture.size))
}

function dimensionsFit(listed: ListedImage, { width, height }: Features): boolean {
  if (listed.width === undefined || listed.height === undefined || width === null || height === null)
    return true
  const near = (a: number, b: number) => Math.abs(a - b) <= DIMENSION_TOLERANCE
  // A host may turn a picture as its metadata says.
  return (
    (near(listed.width, width) && near(listed.height, height)) ||
    (near(listed.width, height) && near(listed.height, width))
  )
}

const PRINTED = /^\s*(\d+(?:[.,]\d+)?)\s*(bytes?|b|[kmgt]i?b?)\s*$/i
const POWERS = 'bkmgt'

/** §2 shows a size for people, such as "1.2 MB"; which units and how it is rounded is not shown. */
export function sizeFits(printed: string, bytes: number): boolean {
  const parts = PRINTED.exec(printed)
  if (!parts) return true
  const number = parts[1]!.replace(',', '.')
  const power = POWERS.indexOf(parts[2]![0]!.toLowerCase())
  const digits = number.split('.')[1]?.length ?? 0
  return [1000, 1024].some(base => {
    const unit = base ** power
    return Math.abs(Number(number) * unit - bytes) <= unit / 10 ** digits
  })
}
