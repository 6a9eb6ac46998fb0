import type { Synced } from '../../synced/synced.ts'

type Bell = 'upload_command_failed' | 'trouble_command_failed' | 'heartbeat_failed'

/** Records for `status` and `doctor` why people are not told. Null: the bell works. */
export function recordProblem({ meta, commitNow }: Synced, bell: Bell, problem: string | null): void {
  if (problem === meta.get(bell)) return
  commitNow(tx => (problem === null ? tx.meta.clear(bell) : tx.meta.set(bell, problem)))
}
