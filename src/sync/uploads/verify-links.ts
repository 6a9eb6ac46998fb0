import { proved, refuted } from '../../records/images.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { Reason } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { type Comparison, compareBytes } from '../listing/index.ts'

export interface Verified {
  /** Images whose bytes are those of the file. */
  equal: number
  /** Images of another: their files are uploaded. */
  other: number
  unknown: number
  /** Why the first of the unknown ones can't be compared; null where there are none. */
  why: Reason | null
}

/** Fetches every linked image and compares its bytes with its file's. `between`: before each, others may work. */
export async function verifyLinks(
  context: Pick<EngineContext, 'synced' | 'host' | 'clock'>,
  signal: AbortSignal,
  between: () => Promise<void> = async () => {},
): Promise<Verified> {
  const { synced } = context
  const verified: Verified = { equal: 0, other: 0, unknown: 0, why: null }
  for (const { id } of synced.images.linked()) {
    if (signal.aborted) break
    await between()
    const image = synced.images.byId(id)
    if (image?.proof !== 'none') continue
    const compared = await verifyLink(context, image, signal)
    verified[compared.verdict]++
    if (compared.verdict === 'unknown') verified.why ??= compared.why
  }
  return verified
}

/** The same for one. Where its bytes are another's, its file stands on nothing any more. */
export async function verifyLink(
  context: Pick<EngineContext, 'synced' | 'host' | 'clock'>,
  image: ImageRow,
  signal: AbortSignal,
): Promise<Comparison> {
  const { synced, clock } = context
  const compared = await compareBytes(context, image, image, signal)
  if (compared.verdict === 'equal') await synced.commit(tx => proved(tx, image, image, compared.cdnUrl))
  if (compared.verdict === 'other') await synced.commit(tx => refuted(tx, image, clock.wall()))
  return compared
}
