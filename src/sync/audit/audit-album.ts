import type { Millis } from '../../protocol/clock.ts'
import type { ListedImage } from '../../protocol/records.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Finding } from '../../synced/tables/audit.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { albumName } from '../album.ts'
import { deliveryOf, isAltering, mayHaveSent } from '../delivered/index.ts'
import { canBe, dimensionsFit, mayBeNamed, plainName, sizeFits } from '../listing/index.ts'

export type AuditRecords = ReturnType<typeof recordsOf>

/** How one complete walk of an album compares with the records. */
export interface AlbumComparison {
  findings: Finding[]
  /** The images that the listing shows and that are recorded in this album, but for those that are to be deleted. */
  inPlace: ImageRow[]
  /** The images that are recorded in this album and that the listing does not show, whether a file uses them or they wait for
   * their deletion. Another album may list them. */
  missing: ImageRow[]
  /** For missing images, by their rows: the id of an unrecorded image that may be the same picture. */
  instead: ReadonlyMap<number, string>
  /** Images that the host alters: how the listing shows them, where that is not recorded yet. */
  altered: { id: number; listed: string }[]
  /** The findings about images that the listing shows and that are recorded in another album. */
  elsewhere: Finding[]
}

export function compareAlbum(listed: readonly ListedImage[], records: AuditRecords): AlbumComparison {
  const shown = new Map(listed.map(image => [image.id, image]))
  const ours = new Set(records.images.map(({ remote_id }) => remote_id))
  const known = records.images.filter(image => records.isKnown(image))
  const inPlace = known.filter(image => shown.has(image.remote_id) && !records.isLeaving(image))
  const missing = known.filter(({ remote_id }) => !shown.has(remote_id))
  const names = namesTell(inPlace, shown)
  const findings: Finding[] = []
  const elsewhere: Finding[] = []
  const altered: AlbumComparison['altered'] = []
  const add = (kind: Finding['kind'], { remote_id, name }: ImageRow, detail: Reason) =>
    findings.push({ kind, remote_id, album: records.album, name, detail })

  for (const image of inPlace) {
    const here = shown.get(image.remote_id)!
    const differences = differencesOf(image, here, names, records)
    if (image.listed === null && isAltering(records.deliveryOf(image)))
      altered.push({ id: image.id, listed: printed(here) })
    if (differences.length > 0) add('changed', image, because('differs', { differences }))
    else if (isTwin(image, inPlace, records)) add('twice', image, because('twin_in_use'))
  }
  const unrecorded: ListedImage[] = []
  for (const image of listed) {
    const row = records.byId(image.id)
    if (ours.has(image.id)) continue
    if (!row) unrecorded.push(image)
    else if (records.isKnown(row)) elsewhere.push(moved(row, image, records))
  }
  const instead = new Map<number, string>()
  findings.push(...judgeUnrecorded(unrecorded, { inPlace, missing, instead }, records))
  return { findings, inPlace, missing, elsewhere, instead, altered }
}

/** The findings about unrecorded images. An image that may be a missing picture goes into `instead`: it is no copy to delete. */
function judgeUnrecorded(
  unrecorded: readonly ListedImage[],
  { inPlace, missing, instead }: Record<'inPlace' | 'missing', ImageRow[]> & { instead: Map<number, string> },
  { album, isUnderWay, wasDeleted, deliveryOf: delivered }: AuditRecords,
): Finding[] {
  const byName = Map.groupBy([...missing, ...inPlace], ({ name }) => plainName(name))
  const lacked = new Set(missing)
  return unrecorded.flatMap(image => {
    if (isUnderWay(image)) return []
    const found = { remote_id: image.id, album, name: image.name ?? '' }
    if (wasDeleted(image)) return { kind: 'twice', ...found, detail: because('deletion_undone') }
    const named = image.name === undefined ? [] : (byName.get(plainName(image.name)) ?? [])
    const alike = named.find(
      known => canBe(image, known, { sizes: !isAltering(delivered(known)) }) && !instead.has(known.id),
    )
    if (!alike) return { kind: 'foreign', ...found, detail: because('not_recorded') }
    if (!lacked.has(alike))
      return { kind: 'twice', ...found, detail: because('looks_like', { id: alike.remote_id }) }
    instead.set(alike.id, image.id)
    return []
  })
}

/** Whether names are compared. They are not when the host lists all images under names of its own. */
function namesTell(inPlace: readonly ImageRow[], shown: ReadonlyMap<string, ListedImage>): boolean {
  const kept = inPlace.filter(image => mayBeNamed(shown.get(image.remote_id)!, image))
  return kept.length > 0 || inPlace.length < 3
}

/** How a listing differs from a record. What the listing leaves out or rounds is no difference. */
function differencesOf(
  image: ImageRow,
  listed: ListedImage,
  names: boolean,
  records: AuditRecords,
): Reason[] {
  const differences: Reason[] = []
  if (names && !mayBeNamed(listed, image))
    differences.push(because('name_differs', { listed: listed.name ?? '', name: image.name }))
  if (isAlteredAs(image, listed, records)) return differences
  if (!NO_FIXED_DIMENSIONS.has(image.mime) && !dimensionsFit(listed, image))
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

/** Whether an image is listed otherwise than it was sent only because the host alters it: it is still listed as it was first. */
function isAlteredAs(image: ImageRow, listed: ListedImage, { deliveryOf: delivered }: AuditRecords): boolean {
  const delivery = delivered(image)
  if (!isAltering(delivery) || (image.listed !== null && image.listed !== printed(listed))) return false
  const isSized = listed.size === undefined || sizeFits(listed.size, image.size)
  const isShaped = dimensionsFit(listed, image)
  return isShaped ? !isSized : delivery === 'encoded anew'
}

function printed({ size, width, height }: ListedImage): string {
  return `${size} ${width} ${height}`
}

/** Types without pixels or with several pictures in a file. Hosts differ in which dimensions they read (§4.1). */
const NO_FIXED_DIMENSIONS: ReadonlySet<string> = new Set(['image/svg+xml', 'image/tiff', 'image/x-icon'])

/** Whether a file needs another image of the same name and bytes in this album. If not, this one may be there on purpose. */
function isTwin(image: ImageRow, inPlace: readonly ImageRow[], { isNeeded }: AuditRecords): boolean {
  if (image.proof === 'none' || isNeeded(image)) return false
  return inPlace.some(
    other =>
      other.id !== image.id &&
      other.proof !== 'none' &&
      other.name === image.name &&
      other.hash.equals(image.hash) &&
      isNeeded(other),
  )
}

function moved(image: ImageRow, listed: ListedImage, records: AuditRecords): Finding {
  const { album, nameOf } = records
  const where = because('in_other_album', { album: nameOf(album), recorded: nameOf(image.album) })
  const detail = because('differs', { differences: [where, ...differencesOf(image, listed, true, records)] })
  return { kind: 'changed', remote_id: image.remote_id, album, name: image.name, detail }
}

/** When an audit began, and the row of the image that was newest then. */
export interface AuditStart {
  at: number
  newest: number
}

/** The start of an audit that compares all recorded images, however new they are. */
export const NOW: AuditStart = { at: Number.POSITIVE_INFINITY, newest: Number.POSITIVE_INFINITY }

/** The records that an album is compared with, as they are at this moment. */
export function recordsOf(
  synced: Synced,
  album: number | null,
  { at: began, newest }: AuditStart,
  now: Millis,
) {
  const { audit, deleted, images, journal, files } = synced
  // Where a clock was ahead, `recorded_at` lies in the future. Then the row's number says whether it is older than the audit.
  const isOlder = ({ id, recorded_at }: ImageRow) =>
    recorded_at <= began || (recorded_at > now && id <= newest)
  // An upload that names no album may have arrived in any album (§4.1).
  const uploads = journal.openUploads().filter(intent => intent.album === album || intent.album === null)
  return {
    /** The row of the album; null is the root. */
    album,
    images: images.inAlbum(album),
    byId: (remoteId: string) => images.byRemoteId(remoteId),
    /** Whether the listing must show this image: it was recorded before the audit began, and no DELETE of it is under way. */
    isKnown: (image: ImageRow) => isOlder(image) && journal.deletionOf(image.id) === undefined,
    isLeaving: ({ id }: ImageRow) => audit.isLeaving({ image: id }),
    /** Whether a file that is not gone uses the image, or the image is kept for good. */
    isNeeded: ({ id, kept }: ImageRow) =>
      kept === 1 || files.onImage(id).some(({ state }) => state !== 'gone'),
    wasDeleted: (listed: ListedImage) => isLeftOver(synced, listed),
    /** Whether albumd deleted the image after the audit began, or the image may come from an upload in doubt. */
    isUnderWay: (listed: ListedImage) =>
      (deleted.at(listed.id) ?? 0) > began || uploads.some(intent => mayHaveSent(synced, intent, listed)),
    /** An album's path on the host; '' is the root. */
    nameOf: (other: number | null) => albumName(synced, other),
    deliveryOf: ({ mime }: Pick<ImageRow, 'mime'>) => deliveryOf(synced, mime),
  }
}

/** Whether albumd deleted this image and the host still lists it. A later image may have the same id. */
export function isLeftOver({ deleted }: Synced, { id, time }: ListedImage): boolean {
  const at = deleted.at(id)
  return at !== undefined && time !== undefined && Date.parse(time) <= at
}
