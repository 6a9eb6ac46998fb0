import type { Endpoint } from '../../protocol/endpoints.ts'
import { isErrorCode } from '../../protocol/errors.ts'
import { isOutage } from '../../remote/failures.ts'
import { type HostFailure, reasonOf } from '../../remote/host.ts'
import type { Reason } from '../../words/reasons.ts'

/** What became of one file. Only `stop` concerns other files. `hash`: of the file's bytes, where they were read. */
export type UploadResult =
  | { kind: 'uploaded'; imageId: string; cdnUrl: string; size: number }
  /** Its bytes are on the host already. `compared`: no record said so, and the image was fetched to compare it. */
  | { kind: 'unchanged'; size: number; compared?: true }
  /** An image of its name and dimensions is there, and its bytes are not compared yet. */
  | { kind: 'linked' }
  /** `retryAt`: milliseconds since 1970. Null: not before the file changes. */
  | { kind: 'failed'; code: string; message: Reason; retryAt: number | null; hash: Buffer | null }
  | { kind: 'uncertain'; failure: HostFailure; hash: Buffer }
  /** Not now: the file is being written, or is missing. The next pass sees it anew, after `retryInMs` at the latest. */
  | { kind: 'waits'; message: Reason; retryInMs?: number }
  /** Nothing can be uploaded now, and all files stay pending. */
  | { kind: 'stop'; failure: HostFailure }

const HOUR_MS = 3_600_000
const OF_A_FILE: ReadonlySet<Endpoint> = new Set(['upload', 'send'])

/** What the host's refusal means for this file and for others. `now`: milliseconds since 1970. */
export function resultOfRefusal(failure: HostFailure, hash: Buffer, now: number): UploadResult {
  const { code, remedy } = failure
  const message = reasonOf(failure)
  // Whether the album was created is not known. Only its pictures wait.
  if (remedy === 'find_out' && failure.endpoint === 'create_album') return { kind: 'waits', message }
  // An outage, a redirect or an odd address is no file's fault, and neither is a refused album request.
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
