import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import { approved, kept } from '../../records/escrow.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import { count, inDigits, isoTime } from '../../words/text.ts'
import { type Command, isMeant, NotPossible } from './command.ts'

/** `path`: absolute, or below a mirror's folder. Without it all held deletions are meant. */
interface DeletionsRequest {
  action: 'approve' | 'discard'
  path?: string | undefined
  /** How many held deletions the person has seen. When more are held by now, the command refuses. */
  most?: number | undefined
}

export const deletionsCommand: Command<DeletionsRequest, { held: HeldDeletion[] }> = {
  request: z.strictObject({
    action: z.enum(['approve', 'discard']),
    path: z.string().optional(),
    most: z.int().min(0).optional(),
  }),
  async carryOut({ config, synced }, { action, path, most = Number.MAX_SAFE_INTEGER }) {
    const held = listHeld(config, synced, path)
    if (held.length > most)
      throw new NotPossible(
        `${count(held.length, 'deletion')} ${held.length === 1 ? 'is' : 'are'} held now, and you saw ${inDigits(most)}; look at the list again, then ${action}`,
      )
    const decided = action === 'approve' ? approved : kept
    const images = held.map(({ image_id }) => synced.images.byRemoteId(image_id)!.id)
    await synced.commit(tx => decided(tx, images, Date.now()))
    return { held }
  },
}

/** A held deletion: an image that is deleted only after a person has approved it. As `deletions --json` shows it. */
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
  image_id: string
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
    return entries.map(({ image, path, reason, since }) => {
      const { size, cdn_url, remote_id } = synced.images.byId(image)!
      return { mirror, path, reason, since: isoTime(since), size, cdn_url, image_id: remote_id }
    })
  })
  return held.filter(({ mirror, path: below }) => isMeant(mirror, below, path))
}
