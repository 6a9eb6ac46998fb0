import { z } from 'zod'
import { approve, discard, type HeldDeletion, listHeld } from '../report/held-deletions.ts'
import { count } from '../report/quantities.ts'
import { type Command, NotPossible } from './command.ts'

/** As `deletions --json` shows it. */
export type ShownDeletion = Omit<HeldDeletion, 'image'> & { image_id: string }

/** `path`: absolute, or below a mirror's folder; left out, all are meant. */
interface DeletionsRequest {
  action: 'approve' | 'discard'
  path?: string | undefined
  /** How many a person has seen. When more are held by now, the command does nothing. */
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
