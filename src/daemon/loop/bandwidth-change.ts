import type { Synced } from '../../synced/synced.ts'

/** Whoever sets another uploads.bandwidth has what was too slow tried again at once, and not within the hour. */
export async function noticeBandwidth(
  { meta, failures, files, commit }: Pick<Synced, 'meta' | 'failures' | 'files' | 'commit'>,
  bandwidth: number | undefined,
): Promise<void> {
  const named = String(bandwidth ?? '')
  if ((meta.get('bandwidth') ?? '') === named) return
  await commit(() => {
    meta.set('bandwidth', named)
    for (const file of failures.uploadsOfCode('TOO_SLOW')) files.retry(file)
  })
}
