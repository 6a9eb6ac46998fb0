import type { Db } from './database.ts'

/**
 * Single facts about the state.
 * running_ms: how long albumd ran and looked, over all its starts, when the last pass ended.
 * base_url: the host it is bound to. boot: the machine's boot when it was last open.
 * generation: how often it was opened for work. witness: the witness as it was then; see witness.ts.
 * clock_offset: between the wall clock and the monotonic one, in milliseconds, when the last pass ended.
 * promises: 'broken' where an upload was acknowledged with another delivery address than its credential had told.
 * lost_at: see lost-records.ts in sync.
 * restored: '1' where the records were found to be old.
 * default_album: the host's id of the account's default album (§4.1), '' where there is none, not set while not known. pid: the process that has it open. quiet_since: see requests-before.ts in daemon.
 */
export function openMeta(db: Db) {
  const get = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
  const set = db.prepare<[string, string]>(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const clear = db.prepare<[string]>('DELETE FROM meta WHERE key = ?')
  type Key =
    | 'audit_began'
    | 'base_url'
    | 'boot'
    | 'clock_offset'
    | 'default_album'
    | 'generation'
    | 'lost_at'
    | 'pid'
    | 'promises'
    | 'quiet_since'
    | 'restored'
    | 'running_ms'
    | 'witness'

  return {
    get: (key: Key) => get.get(key)?.value ?? null,
    set: (key: Key, value: string) => void set.run(key, value),
    clear: (key: Key) => void clear.run(key),
  }
}
