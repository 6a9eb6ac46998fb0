import type { HostFailure } from '../remote/host.ts'

/** What became of one file. Only `stop` concerns the others. */
export type UploadResult =
  | { kind: 'uploaded'; cdnUrl: string; size: number }
  /** Its bytes are on the host already. */
  | { kind: 'unchanged'; size: number }
  | { kind: 'failed'; code: string; message: string; retryAt: number | null }
  | { kind: 'uncertain'; message: string }
  /** Not now: it is being written, or went away. The next look finds it as it is then. */
  | { kind: 'waits'; message: string }
  /** Nothing can be uploaded now. The file stays pending. */
  | { kind: 'stop'; failure: HostFailure }

const HOUR_MS = 3_600_000

/** What a failure that the host answered means for this file and the others. `now`: milliseconds since 1970. */
export function resultOfRefusal(failure: HostFailure, now: number): UploadResult {
  const { code, message } = failure
  switch (failure.remedy) {
    case 'change_picture':
    case 'change_request':
    case 'skip_dimensions':
      return { kind: 'failed', code, message, retryAt: null }
    case 'not_permitted':
    case 'new_credential':
    case 'gone':
      return { kind: 'failed', code, message, retryAt: now + HOUR_MS }
    case 'find_out':
      // An album whose creation is in doubt is looked for before the next try; a picture's outcome is not.
      return failure.endpoint === 'send' ? { kind: 'uncertain', message } : { kind: 'stop', failure }
    case 'changed_underway':
      return { kind: 'waits', message }
    default:
      return { kind: 'stop', failure }
  }
}
