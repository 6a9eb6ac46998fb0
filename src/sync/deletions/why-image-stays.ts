import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { whyImageStays as whyMayHaveMoved } from '../plan.ts'

/** What the disk says of the pictures of an image, looked at anew. */
export interface DiskCheck {
  /** Why a file can't be taken for gone, or null. */
  whyNotGone(file: FileRow): Reason | null
  /** Why the location of an image that no file uses can't be taken for empty, or null. */
  whyThere(entry: EscrowRow): Reason | null
  /** Why nothing may be deleted at this moment, or null: a root is in doubt. */
  doubt(): Reason | null
}

interface Asked {
  synced: Synced
  image: ImageRow
  /** The files that use the image, or used it before they went missing. */
  files: readonly FileRow[]
  entry: EscrowRow | undefined
  /** Null when only the host and the records were read: an audit looks at no disk, and deletes no image of a picture. */
  disk: DiskCheck | null
}

/** Every question that is asked before an image is deleted, in this order. Each answers why the image stays, or null. */
const QUESTIONS: Readonly<Record<string, (asked: Asked) => Reason | null>> = {
  isKeptForGood: ({ image }) => (image.kept === 1 ? because('kept_for_good') : null),
  isInUse: ({ files }) => (files.some(({ state }) => state !== 'gone') ? because('in_use') : null),
  mayHaveMoved: ({ synced, image }) =>
    whyMayHaveMoved(image.hash, synced.files.openLike(image.hash, image.size)),
  isThereAgain({ files, disk }) {
    for (const file of files) {
      const why = disk?.whyNotGone(file)
      if (why) return why
    }
    return null
  },
  isLocationTaken: ({ files, entry, disk }) =>
    files.length === 0 && entry?.reason === 'deleted' ? (disk?.whyThere(entry) ?? null) : null,
  isDiskInDoubt: ({ disk }) => disk?.doubt() ?? null,
}

/** Why an image must not be deleted at this moment, or null. The records and the disk are asked anew each time. */
export function whyImageStays(synced: Synced, image: ImageRow, disk: DiskCheck | null): Reason | null {
  const asked = {
    synced,
    image,
    disk,
    files: synced.files.onImage(image.id),
    entry: synced.escrow.of(image.id),
  }
  for (const question of Object.values(QUESTIONS)) {
    const why = question(asked)
    if (why !== null) return why
  }
  return null
}
