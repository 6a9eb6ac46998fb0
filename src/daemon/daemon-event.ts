import type { FindingKind } from '../synced/tables/audit.ts'

/** What the daemon tells of the work that it does by itself, beside its passes. */
export type DaemonEvent =
  /** A difference that the audit by schedule found. `album`: its path on the host, '' is the root. */
  | { event: 'audit_found'; kind: FindingKind; album: string; name: string; detail: string }
  /** `skipped`: albums that could not be compared. */
  | { event: 'audit_finished'; albums: number; findings: number; skipped: number }
  /** The host did not let an audit go on. */
  | { event: 'audit_waits'; code: string; message: string }
  /** A command has the daemon do something. */
  | { event: 'asked_for'; what: string }
  | { event: 'config_taken' }
  /** The one before stays. */
  | { event: 'config_refused'; message: string }
  | { event: 'key_taken' }
  | { event: 'key_refused'; message: string }
  /** Said once, until one arrives again. */
  | { event: 'heartbeat_failed'; message: string }
  | { event: 'heartbeat_works' }
  | { event: 'trouble'; code: string; message: string }
  | { event: 'trouble_resolved' }
  /** `notify.on_trouble` did not do what it should. */
  | { event: 'trouble_command_failed'; message: string }
  /** The same of `notify.on_upload`; `path` null: of many. Said once of what goes wrong each time. */
  | { event: 'upload_command_failed'; path: string | null; message: string }

export type Note = (event: DaemonEvent) => void
