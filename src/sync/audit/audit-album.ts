import { DIMENSION_TOLERANCE } from '../../protocol/limits.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { canBe, sizeFits } from '../listing/index.ts'

/** What is recorded, as far as one album's listing is compared with it. */
export interface AuditRecords {
  /** The album; null is the root. */
  album: number | null
  /** The images that are recorded in it. */
  images: readonly ImageRow[]
  /** An image that is recorded, wherever. */
  byId(remoteId: string): ImageRow | undefined
  /** Whether nothing is under way with an image: what is given up or came during the audit is no finding. */
  isSettled(image: ImageRow): boolean
  /** Whether a file that is not gone stands on it. */
  isNeeded(image: ImageRow): boolean
  /** Whether albumd deleted this image, before the audit began. */
  wasDeleted(listed: ListedImage): boolean
  /** Whether albumd deleted it since, or it may be an upload whose outcome is not known. */
  isUnderWay(listed: ListedImage): boolean
  /** An album's path on the host; '' is the root. */
  nameOf(album: number | null): string
}

/** What one complete walk of an album shows beside the records. */
export interface AlbumComparison {
  findings: Finding[]
  /** Images of ours that are shown where they are recorded. */
  inPlace: ImageRow[]
  /** Images that are recorded here and not shown. They may stand elsewhere. */
  missing: ImageRow[]
  /** Images that are recorded elsewhere and shown here. */
  elsewhere: Finding[]
}

/** Compares the whole listing of an album with the records. Pure. */
export function compareAlbum(listed: readonly ListedImage[], records: AuditRecords): AlbumComparison {
  const shown = new Map(listed.map(image => [image.id, image]))
  const ours = new Set(records.images.map(({ remote_id }) => remote_id))
  const settled = records.images.filter(image => records.isSettled(image))
  const inPlace = settled.filter(({ remote_id }) => shown.has(remote_id))
  const missing = settled.filter(({ remote_id }) => !shown.has(remote_id))
  const names = namesTell(inPlace, shown)
  const findings: Finding[] = []
  const elsewhere: Finding[] = []
  const add = (
    kind: Finding['kind'],
    { remote_id, name }: Pick<ImageRow, 'remote_id' | 'name'>,
    detail: Reason,
  ) => findings.push({ kind, remote_id, album: records.album, name, detail })

  for (const image of inPlace) {
    const differences = differencesOf(image, shown.get(image.remote_id)!, names)
    if (differences.length > 0) add('changed', image, because('differs', { differences }))
    else if (isTwin(image, inPlace, records)) add('twice', image, because('twin_in_use'))
  }
  const strangers: ListedImage[] = []
  for (const image of listed) {
    const row = records.byId(image.id)
    if (ours.has(image.id)) continue
    if (!row) strangers.push(image)
    else if (records.isSettled(row)) elsewhere.push(moved(row, image, records))
  }
  findings.push(...judgeStrangers(strangers, settled, records))
  return { findings, inPlace, missing, elsewhere }
}

/** Images that no record stands for. */
function judgeStrangers(
  strangers: readonly ListedImage[],
  settled: readonly ImageRow[],
  { album, isUnderWay, wasDeleted }: AuditRecords,
): Finding[] {
  const byName = Map.groupBy(settled, ({ name }) => name.normalize())
  const kindOf = (image: ListedImage): Pick<Finding, 'kind' | 'detail'> => {
    if (wasDeleted(image)) return { kind: 'twice', detail: because('deletion_undone') }
    const named = image.name === undefined ? [] : (byName.get(image.name.normalize()) ?? [])
    const alike = named.find(known => canBe(image, known))
    if (alike)
      return {
        kind: 'twice',
        detail: because('looks_like', { id: alike.remote_id }),
      }
    return { kind: 'foreign', detail: because('not_recorded') }
  }
  return strangers
    .filter(image => !isUnderWay(image))
    .map(image => ({ remote_id: image.id, album, name: image.name ?? '', ...kindOf(image) }))
}

/** A host may list all images under names of its own: then names tell nothing. */
function namesTell(inPlace: readonly ImageRow[], shown: ReadonlyMap<string, ListedImage>): boolean {
  const kept = inPlace.filter(image => sameName(image, shown.get(image.remote_id)!))
  return kept.length > 0 || inPlace.length < 3
}

function sameName({ name }: ImageRow, listed: ListedImage): boolean {
  return listed.name === undefined || listed.name.normalize() === name.normalize()
}

/** What a listing says otherwise than the record. What it does not say, or not clearly, is no difference. */
function differencesOf(image: ImageRow, listed: ListedImage, names: boolean): Reason[] {
  const differences: Reason[] = []
  if (names && !sameName(image, listed))
    differences.push(because('name_differs', { listed: listed.name ?? '', name: image.name }))
  if (!sameDimensions(image, listed))
    differences.push(
      because('dimensions_differ', {
        listed: `${listed.width}×${listed.height}`,
        recorded: `${image.width}×${image.height}`,
      }),
    )
  if (listed.size !== undefined && !sizeFits(listed.size, image.size))
    differences.push(because('size_differs', { listed: String(listed.size), size: image.size }))
  return differences
}

/** Of formats that have no pixels of their own, or several pictures, each host reads dimensions as it likes (§4.1). */
const NO_FIXED_DIMENSIONS: ReadonlySet<string> = new Set(['image/svg+xml', 'image/tiff', 'image/x-icon'])

function sameDimensions({ width, height, mime }: ImageRow, listed: ListedImage): boolean {
  if (width === null || height === null || listed.width === undefined || listed.height === undefined)
    return true
  if (NO_FIXED_DIMENSIONS.has(mime)) return true
  const near = (a: number, b: number) => Math.abs(a - b) <= DIMENSION_TOLERANCE
  return (
    (near(listed.width, width) && near(listed.height, height)) ||
    // A host may turn a picture as its metadata says.
    (near(listed.width, height) && near(listed.height, width))
  )
}

/**
 * Whether an image that no file needs has a twin here that one does need. Without one it may have been kept: a mirror
 * that is a backup, and a person who discards a deletion, leave images that nothing stands on.
 */
function isTwin(image: ImageRow, inPlace: readonly ImageRow[], records: AuditRecords): boolean {
  return image.proof !== 'none' && !records.isNeeded(image) && twinOf(image, inPlace, records) !== undefined
}

function twinOf(
  image: ImageRow,
  inPlace: readonly ImageRow[],
  { isNeeded }: AuditRecords,
): ImageRow | undefined {
  return inPlace.find(
    other =>
      other.id !== image.id &&
      other.proof !== 'none' &&
      other.name === image.name &&
      other.hash.equals(image.hash) &&
      isNeeded(other),
  )
}

function moved(image: ImageRow, listed: ListedImage, { album, nameOf }: AuditRecords): Finding {
  const where = because('in_other_album', { album: nameOf(album), recorded: nameOf(image.album) })
  const detail = because('differs', { differences: [where, ...differencesOf(image, listed, true)] })
  return { kind: 'changed', remote_id: image.remote_id, album, name: image.name, detail }
}
