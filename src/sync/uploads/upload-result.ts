import type { Endpoint } from '../../protocol/endpoints.ts'
import { isErrorCode } from '../../protocol/errors.ts'
import { isOutage } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'

/** What became of one file. Only `stop` concerns the others. `hash`: of its bytes, where they were read. */
export type UploadResult =
  | { kind: 'uploaded'; imageId: string; cdnUrl: string; size: number }
  /** Its bytes are on the host already. `compared`: no record said so, but they were fetched. */
  | { kind: 'unchanged'; size: number; compared?: true }
  /** A remote image can be it. */
  | { kind: 'linked' }
  /** `retryAt`: milliseconds since 1970; null: not before it changes. */
  | { kind: 'failed'; code: string; message: string; retryAt: number | null; hash: Buffer | null }
  | { kind: 'uncertain'; failure: HostFailure; hash: Buffer }
  /** Not now: it is being written, or went away. The next look finds it as it is then, after `retryInMs` at the latest. */
  | { kind: 'waits'; message: string; retryInMs?: number }
  /** Nothing can be uploaded now. The file stays pending. */
  | { kind: 'stop'; failure: HostFailure }

const HOUR_MS = 3_600_000
const OF_A_FILE: ReadonlySet<Endpoint> = new Set(['upload', 'send'])

/** What a failure that the host answered means for this file and the others. `now`: milliseconds since 1970. */
export function resultOfRefusal(failure: HostFailure, hash: Buffer, now: number): UploadResult {
  const { code, message, remedy } = failure
  // Only the pictures of that album wait until it is known whether it is there.
  if (remedy === 'find_out' && failure.endpoint === 'create_album') return { kind: 'waits', message }
  // A node in trouble, a redirect or an odd address is the host's matter, and what albums answer concerns no file.
  if (isOutage(failure) || code.startsWith('HOST_') || !OF_A_FILE.has(failure.endpoint)) {
    return remedy === 'find_out' && failure.endpoint === 'send'
      ? { kind: 'uncertain', failure, hash }
      : { kind: 'stop', failure }
  }
  const failed = (retryAt: number | null): UploadResult => ({ kind: 'failed', code, message, retryAt, hash })
  switch (remedy) {
    case 'change_picture':
    case 'skip_dimensions':
      return failed(null)
    case 'change_request':
      return failed(now + (isErrorCode(code) ? 24 * HOUR_MS : HOUR_MS))
    case 'not_permitted':
    case 'new_credential':
    case 'gone':
      return failed(now + HOUR_MS)
    case 'find_out':
      return failure.endpoint === 'send' ? { kind: 'uncertain', failure, hash } : { kind: 'stop', failure }
    case 'faster_line':
      return failed(now + HOUR_MS)
    case 'changed_underway':
    case 'give_way':
      return { kind: 'waits', message }
    default:
      return { kind: 'stop', failure }
  }
}
