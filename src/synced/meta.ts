import type { Db } from './database.ts'

/**
 * Single facts about the state.
 * running_ms: how long albumd ran and looked, over all its starts, when the last pass ended.
 * base_url: the host it is bound to. pid: the process that has it open. quiet_since: see requests-before.ts in daemon.
 */
export function openMeta(db: Db) {
  const get = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
  const set = db.prepare<[string, string]>(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const clear = db.prepare<[string]>('DELETE FROM meta WHERE key = ?')
  type Key = 'base_url' | 'pid' | 'quiet_since' | 'running_ms'

  return {
    get: (key: Key) => get.get(key)?.value ?? null,
    set: (key: Key, value: string) => void set.run(key, value),
    clear: (key: Key) => void clear.run(key),
  }
}
