import type { Synced } from '../synced/synced.ts'

/** What audits have found, in `status --json`. */
export interface AuditStatus {
  /** When the last one ended, ISO 8601. Null: none has. */
  last: string | null
  /** What the last one found that is not as recorded; `albumd audit` names each. */
  findings: number
  /** Whether one was begun and has not ended; it goes on where it was. */
  under_way: boolean
}

export function auditStatus({ meta, audit }: Pick<Synced, 'meta' | 'audit'>): AuditStatus {
  const ended = meta.get('audit_ended')
  const underWay = meta.get('audit_began') !== null
  return {
    last: ended === null ? null : new Date(Number(ended)).toISOString(),
    // One that is under way begins with none.
    findings: underWay ? Number(meta.get('audit_found') ?? 0) : audit.count(),
    under_way: underWay,
  }
}

/** A line for a person, or null where there is nothing to say. */
export function auditInWords({ last, findings, under_way }: AuditStatus): string | null {
  const since = last === null ? 'none has ended yet' : `the last one ended at ${last}`
  if (findings > 0)
    return `${findings === 1 ? 'a finding' : `${findings} findings`}, ${since}; "albumd audit" names them`
  if (under_way) return `one is under way; ${since}`
  return last === null ? null : `nothing found at ${last}`
}
