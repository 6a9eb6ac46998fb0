import { retried } from '../../records/pictures.ts'
import type { Synced } from '../../synced/synced.ts'

/** Whoever sets another uploads.bandwidth has what was too slow tried again at once, and not within the hour. */
export async function noticeBandwidth(
  { meta, failures, commit }: Pick<Synced, 'meta' | 'failures' | 'commit'>,
  bandwidth: number | undefined,
): Promise<void> {
  const named = String(bandwidth ?? '')
  if ((meta.get('bandwidth') ?? '') === named) return
  await commit(tx => {
    tx.meta.set('bandwidth', named)
    retried(tx, failures.uploadsOfCode('TOO_SLOW'))
  })
}
