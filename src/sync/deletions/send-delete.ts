import { wasNotDone } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Tx } from '../../synced/synced.ts'
import type { Reason } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'

/** What one DELETE (§4.5) takes away, by the host's id, and what is recorded of it. */
export interface Deletion {
  target: { image: string } | { album: string }
  /** Writes the intent down, before the request leaves. */
  intend(tx: Tx): void
  /**
   * Why the deletion must not be done, or null. Asked at the last moment: the gate may have held the request for minutes,
   * and a picture may have come back meanwhile.
   */
  whyNot(): Reason | null
  /** The host has it no more. */
  done(tx: Tx): void
  /** The host's own word is that nothing was deleted. */
  notDone(tx: Tx, refusal: HostFailure): void
}

/**
 * The one door to the host's DELETE, for images and albums, whoever asks. Answers null when the host has the target no
 * more, or else its refusal.
 *
 * When the answer is lost, the deletion may have been done. Then nothing is recorded but the intent, which has the
 * deletion repeated later.
 */
export async function sendDelete(
  { synced, host }: Pick<EngineContext, 'synced' | 'host'>,
  { target, intend, whyNot, done, notDone }: Deletion,
  signal: AbortSignal,
): Promise<HostFailure | null> {
  await synced.commit(intend)
  const mayLeave = () => whyNot() === null
  const answer =
    'image' in target
      ? await host.deleteImage(target.image, signal, mayLeave)
      : await host.deleteAlbum(target.album, signal, mayLeave)
  const refusal = answer.ok || answer.failure.remedy === 'gone' ? null : answer.failure
  if (refusal === null) await synced.commit(done)
  else if (wasNotDone(refusal)) await synced.commit(tx => notDone(tx, refusal))
  return refusal
}
