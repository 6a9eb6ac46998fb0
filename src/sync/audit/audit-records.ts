import type { ListedImage } from '../../protocol/records.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { albumName } from '../album.ts'
import { canBe } from '../listing/index.ts'
import type { AuditRecords } from './audit-album.ts'

/** When an audit began: in milliseconds since 1970, and by the newest image that was recorded. */
export interface AuditStart {
  at: number
  newest: number
}

/** Whatever is recorded is to be there. */
export const NOW: AuditStart = { at: Number.POSITIVE_INFINITY, newest: Number.POSITIVE_INFINITY }

/** The records that an album is compared with, as they are at this moment. `now`: milliseconds since 1970. */
export function recordsOf(
  synced: Synced,
  album: number | null,
  { at: began, newest }: AuditStart,
  now: number,
): AuditRecords {
  const { audit, images, journal, files } = synced
  // A clock that was ahead until it was set back left dates of the future.
  const isOlder = ({ id, recorded_at }: ImageRow) =>
    recorded_at <= began || (recorded_at > now && id <= newest)
  // Without an album, an upload may have gone to any (§4.1).
  const uploads = journal.openUploads().filter(intent => intent.album === album || intent.album === null)
  return {
    album,
    images: images.inAlbum(album),
    byId: id => images.byRemoteId(id),
    isSettled: image => isOlder(image) && !audit.isLeaving(image.id),
    isNeeded: ({ id, kept }) => kept === 1 || files.onImage(id).some(({ state }) => state !== 'gone'),
    wasDeleted: listed => isLeftOver(synced, listed),
    isUnderWay: listed =>
      (audit.deletedAt(listed.id) ?? 0) > began || uploads.some(intent => canBe(listed, intent)),
    nameOf: other => albumName(synced, other),
  }
}

/**
 * Whether albumd deleted this very image, and the host still has it. One of the same id that came later is another's: a
 * host may make its ids of the bytes.
 */
export function isLeftOver({ audit }: Synced, { id, time }: ListedImage): boolean {
  const at = audit.deletedAt(id)
  return at !== undefined && time !== undefined && Date.parse(time) <= at
}
