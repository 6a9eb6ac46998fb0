import type { HostFailure } from '../../remote/host.ts'
import type { UploadRun } from './upload-job.ts'

/** No picture can be sent now. At once, for what follows may take hours: whoever comes after must not ask again. */
export async function recordStop({ synced, quota, clock }: UploadRun, failure: HostFailure): Promise<void> {
  const { remedy, code, message, repeated } = failure
  if (repeated) return
  const now = clock.wall()
  if (remedy === 'quota') await synced.commit(tx => quota.refuse(tx, failure))
  if (remedy === 'storage' || remedy === 'plan')
    await synced.commit(tx =>
      tx.account.block({ endpoint: 'upload', code, message, since: now, said_at: now }),
    )
}
