import type { HostFailure, ImageHost } from '../remote/host.ts'
import type { EscrowRow } from '../synced/escrow.ts'
import type { ImageRow } from '../synced/images.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'
import type { Interruption } from './interruption.ts'
import type { Tell } from './pass-events.ts'
import { whyImageStays } from './plan.ts'

export interface GiveUpParts {
  synced: Synced
  host: ImageHost
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  tell: Tell
}

export interface MirrorToSettle {
  id: number
  folder: string
  /** Why the local truth is in doubt at this moment, or null. Asked before every deletion. */
  doubt(): string | null
  /** Whether no file of this path (below the folder) is on the disk; false where that can't be told. */
  isGone(path: string): boolean
}

/**
 * Deletes the images that a mirror has given up, one by one, as far as nothing speaks against it.
 * Answers the host's failure that ended it early, or null.
 */
export async function giveUpImages(
  { synced, host, clock, running, tell }: GiveUpParts,
  mirror: MirrorToSettle,
  { stop, cut }: Interruption,
): Promise<HostFailure | null> {
  for (const given of synced.escrow.ofMirror(mirror.id)) {
    if (stop.aborted) return null
    if (given.state === 'held' || running() < given.due_at) continue
    const image = synced.images.byId(given.image)!
    const stays = whyStays(synced, mirror, given, image)
    if (stays) {
      tell({ event: 'image_kept', mirror: mirror.folder, path: given.path, reason: stays })
      continue
    }
    const intent = await synced.commit(() => synced.journal.openImageDeletion(image.id, clock.wall()))
    const deleted = await host.deleteImage(image.remote_id, cut)
    const done = deleted.ok || deleted.failure.remedy === 'gone'
    await synced.commit(() => {
      // A deletion that may have happened is asked for again the next time: then it is gone, which is as good.
      synced.journal.close(intent)
      if (!done) return
      if (given.state !== 'approved') synced.escrow.record(running(), mirror.id, image.id)
      forget(synced, image)
    })
    if (done) tell({ event: 'image_deleted', mirror: mirror.folder, path: given.path, reason: given.reason })
    else if (!deleted.ok) {
      if (deleted.failure.remedy !== 'not_permitted') return deleted.failure
      tell({ event: 'image_kept', mirror: mirror.folder, path: given.path, reason: deleted.failure.message })
    }
  }
  return null
}

function whyStays(synced: Synced, mirror: MirrorToSettle, given: EscrowRow, image: ImageRow): string | null {
  const standing = synced.files.onImage(image.id)
  const open = synced.files.openOfSize(image.size)
  return (
    whyImageStays(image.hash, standing, open) ??
    mirror.doubt() ??
    (given.reason === 'deleted' && !mirror.isGone(given.path) ? 'something of its name is there again' : null)
  )
}

function forget(synced: Synced, image: ImageRow): void {
  for (const file of synced.files.onImage(image.id)) {
    synced.files.remove(file)
    synced.folders.removeIfEmpty(file.folder)
  }
  synced.journal.forgetImage(image.id)
  synced.escrow.takeBack(image.id)
  synced.images.remove(image.id)
}
