import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import { approved, kept } from '../../records/escrow.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { count, isoTime } from '../report/amounts.ts'
import { type Command, isAtOrBelow, NotPossible } from './command.ts'

/** As `deletions --json` shows it. */
export type ShownDeletion = Omit<HeldDeletion, 'image'> & { image_id: string }

/** `path`: absolute, or below a mirror's folder. Without it all held deletions are meant. */
interface DeletionsRequest {
  action: 'approve' | 'discard'
  path?: string | undefined
  /** How many held deletions the person has seen. When more are held by now, the command refuses. */
  most?: number | undefined
}

export const deletionsCommand: Command<DeletionsRequest, { held: ShownDeletion[] }> = {
  request: z.strictObject({
    action: z.enum(['approve', 'discard']),
    path: z.string().optional(),
    most: z.int().min(0).optional(),
  }),
  needsHost: false,
  async carryOut({ config, synced }, { action, path, most = Number.MAX_SAFE_INTEGER }) {
    const held = listHeld(config, synced, path)
    if (held.length > most) throw new NotPossible(moreThanSeen(action, held.length, most))
    const shown = held.map(showDeletion)
    if (action === 'approve') await approve(synced, held)
    else await discard(synced, held, Date.now())
    return { held: shown }
  },
}

function moreThanSeen(action: string, held: number, seen: number): string {
  return `${count(held, 'deletion')} ${held === 1 ? 'is' : 'are'} held now, and you saw ${seen.toLocaleString('en')}; look at the list again, then ${action}`
}

export function showDeletion({ image, ...rest }: HeldDeletion): ShownDeletion {
  return { ...rest, image_id: image.remote_id }
}

/** A held deletion: an image that is deleted only after a person has approved it. */
export interface HeldDeletion {
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  reason: EscrowRow['reason']
  /** ISO 8601. */
  since: string
  size: number
  /** Null: not known. */
  cdn_url: string | null
  image: ImageRow
}

/** The held deletions of the config's mirrors, or those at and below `path` (absolute, or below a mirror's folder). */
export function listHeld(config: Config, synced: Synced, path?: string): HeldDeletion[] {
  return heldOf(config, synced, Number.MAX_SAFE_INTEGER).filter(held =>
    isAtOrBelow(held.mirror, held.path, path),
  )
}

/** The first held deletions, at most `most`. */
export function firstHeld(config: Config, synced: Synced, most: number): HeldDeletion[] {
  return heldOf(config, synced, most).slice(0, most)
}

/** The held deletions, at most `most` of each mirror. */
function heldOf({ mirrors }: Config, synced: Synced, most: number): HeldDeletion[] {
  return mirrors.flatMap(({ folder }) => {
    const row = synced.mirrors.of(folder)
    const held = row ? synced.escrow.held(row.id, most) : []
    return held.map(({ image: id, path, reason, since }) => {
      const image = synced.images.byId(id)!
      return {
        mirror: folder,
        path,
        reason,
        since: isoTime(since),
        size: image.size,
        cdn_url: image.cdn_url,
        image,
      }
    })
  })
}

/** Approves the deletions. The next pass deletes the images, unless its last check finds a reason against it. */
export function approve(synced: Synced, deletions: readonly HeldDeletion[], now = Date.now()): Promise<void> {
  return synced.commit(tx => approved(tx, idsOf(deletions), now))
}

/** Keeps the images for good. `now`: milliseconds since 1970. */
export function discard(synced: Synced, deletions: readonly HeldDeletion[], now: number): Promise<void> {
  return synced.commit(tx => kept(tx, idsOf(deletions), now))
}

function idsOf(deletions: readonly HeldDeletion[]): number[] {
  return deletions.map(({ image }) => image.id)
}
