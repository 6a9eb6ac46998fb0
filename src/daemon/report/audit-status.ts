import type { Synced } from '../../synced/synced.ts'
import { localTime } from './local-time.ts'

/** What audits have found, in `status --json`. */
export interface AuditStatus {
  /** When the last one ended, ISO 8601. Null: none has. */
  last: string | null
  /** What the last one found that is not as recorded; `albumd audit` names each. */
  findings: number
  /** Whether one is being made; it may wait while something else is done. */
  under_way: boolean
  /** Whether one was left before its end; the next goes on where it was. */
  left_off: boolean
}

/** `running`: whether a process has the state open. */
export function auditStatus(
  { meta, audit, account }: Pick<Synced, 'meta' | 'audit' | 'account'>,
  running: boolean,
): AuditStatus {
  const ended = meta.get('audit_ended')
  const begun = meta.get('audit_began') !== null
  const isShut = account.blocks().some(({ endpoint }) => endpoint === 'list')
  const underWay = begun && running && !isShut
  return {
    last: ended === null ? null : new Date(ended).toISOString(),
    // One that was begun begins with none.
    findings: begun ? (meta.get('audit_found') ?? 0) : audit.count(),
    under_way: underWay,
    // One that the host never let look has nothing to go on with.
    left_off: begun && !underWay && audit.albums().some(album => audit.isDone(album)),
  }
}

/** A line for a person, or null where there is nothing to say. */
export function auditInWords({ last, findings, under_way, left_off }: AuditStatus): string | null {
  const since = last === null ? 'none has ended yet' : `the last one ended at ${localTime(last)}`
  if (findings > 0)
    return `${findings === 1 ? 'a finding' : `${findings} findings`}, ${since}; "albumd audit" names them`
  if (under_way) return `one is under way; ${since}`
  if (left_off) return `one was left before its end, and "albumd audit" goes on with it; ${since}`
  return last === null ? null : `nothing found at ${localTime(last)}`
}
