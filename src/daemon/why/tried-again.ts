import type { ErrorCode } from '../../protocol/errors.ts'
import type { Status } from '../report/status.ts'

const HOUR_MS = 3_600_000

const KEY: ReadonlySet<string> = new Set<ErrorCode>(['MISSING_API_KEY', 'INVALID_API_KEY'])
const ACCOUNT: ReadonlySet<string> = new Set<ErrorCode>(['PLAN_NOT_SUPPORTED', 'STORAGE_LIMIT_REACHED'])

/**
 * When an albumd that runs asks again about what the host has shut, in milliseconds since 1970. Null: nobody knows, as
 * with passing trouble, whose waits grow.
 */
export function triedAgainAt(
  { code, said_at }: Pick<Status['blocks'][number], 'code' | 'said_at'>,
  probeEveryMs: number,
): number | null {
  const every = KEY.has(code) ? HOUR_MS : ACCOUNT.has(code) ? probeEveryMs : null
  return every === null ? null : Date.parse(said_at) + every
}
