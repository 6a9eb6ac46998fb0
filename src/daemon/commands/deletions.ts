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
    const decided = action === 'approve' ? approved : kept
    const images = held.map(({ image }) => image.id)
    await synced.commit(tx => decided(tx, images, Date.now()))
    return { held: held.map(showDeletion) }
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

/**
 * The held deletions of the config's mirrors, or those at and below `path` (absolute, or below a mirror's folder). At most
 * `most` of each mirror.
 */
export function listHeld(
  { mirrors }: Config,
  synced: Synced,
  path?: string,
  most = Number.MAX_SAFE_INTEGER,
): HeldDeletion[] {
  const held = mirrors.flatMap(({ folder: mirror }) => {
    const row = synced.mirrors.of(mirror)
    const entries = row ? synced.escrow.held(row.id, most) : []
    return entries.map(({ image: id, path, reason, since }) => {
      const image = synced.images.byId(id)!
      const { size, cdn_url } = image
      return { mirror, path, reason, since: isoTime(since), size, cdn_url, image }
    })
  })
  return held.filter(({ mirror, path: below }) => isAtOrBelow(mirror, below, path))
}
