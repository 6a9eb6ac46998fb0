import { z } from 'zod'
import { approve, discard, type HeldDeletion, listHeld } from '../held-deletions.ts'
import type { Deed } from './deed.ts'

/** As `deletions --json` shows it. */
export type ShownDeletion = Omit<HeldDeletion, 'image'> & { image_id: string }

/** `path`: absolute, or below a mirror's folder; left out, all are meant. */
interface DeletionsRequest {
  action: 'approve' | 'discard'
  path?: string | undefined
}

export const deletionsDeed: Deed<DeletionsRequest, { held: ShownDeletion[] }> = {
  request: z.strictObject({ action: z.enum(['approve', 'discard']), path: z.string().optional() }),
  needsHost: false,
  async carryOut({ config, synced }, { action, path }) {
    const held = listHeld(config, synced, path)
    const shown = held.map(showDeletion)
    if (action === 'approve') await approve(synced, held)
    else await discard(synced, held, Date.now())
    return { held: shown }
  },
}

export function showDeletion({ image, ...rest }: HeldDeletion): ShownDeletion {
  return { ...rest, image_id: image.remote_id }
}
