import type { HostFailure } from '../../remote/host.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { EngineContext } from '../context.ts'
import { mayArriveFor } from '../credential-life.ts'
import type { UploadRun } from './upload-job.ts'
import type { UploadResult } from './upload-result.ts'

/** The answer was lost: the picture may be on the host or not. Within a commit. */
export function recordUncertain(
  { synced, clock, credentialLifetimeMs }: EngineContext,
  file: FileRow,
  { hash, failure }: Extract<UploadResult, { kind: 'uncertain' }>,
): void {
  const since = clock.wall()
  synced.files.put({ ...file, state: 'uncertain', since, hash })
  synced.failures.put(uncertainty(file, failure.message, since + mayArriveFor(credentialLifetimeMs)))
  synced.history.ofFile(file, { at: since, event: 'uncertain', detail: failure.message })
}

/** What a person reads of an upload whose outcome is not known. `until`: when it can be found out at the latest. */
export function uncertainty({ folder, name }: Pick<FileRow, 'folder' | 'name'>, why: string, until: number) {
  const message = `it may be on the host or not; it is looked for there, and not sent again before that is known: ${why}`
  const next_attempt_at = Math.round(until)
  return { folder, name, source: 'uncertain' as const, code: 'UNCERTAIN', message, next_attempt_at }
}

/** This picture alone was not taken. Within a commit. */
export function recordFailed(
  { synced, clock }: EngineContext,
  file: FileRow,
  { code, message, retryAt, hash }: Extract<UploadResult, { kind: 'failed' }>,
): void {
  const { files, failures, history } = synced
  const { folder, name } = file
  // With its hash known, it does not keep every image of its size waiting for it.
  files.put({ ...file, state: 'failed', hash })
  failures.put({ folder, name, source: 'upload', code, message, next_attempt_at: retryAt })
  history.ofFile(file, { at: clock.wall(), event: 'failed', detail: `${message} (${code})` })
}

/** No picture can be sent now. At once, for what follows may take hours: whoever comes after must not ask again. */
export async function recordStop({ synced, quota, clock }: UploadRun, failure: HostFailure): Promise<void> {
  const { remedy, code, message, repeated } = failure
  if (repeated) return
  const now = clock.wall()
  if (remedy === 'quota') await synced.commit(() => quota.refuse(failure))
  if (remedy === 'storage' || remedy === 'plan')
    await synced.commit(() =>
      synced.account.block({ endpoint: 'upload', code, message, since: now, said_at: now }),
    )
}
