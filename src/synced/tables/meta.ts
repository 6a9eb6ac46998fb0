import type { Db } from '../database.ts'

/**
 * Single facts about the state. Moments are milliseconds since 1970.
 * audit_began: when the audit under way began. audit_newest: the row of the newest image then. audit_ended: when the last one did. audit_found: what that found, in
 * number. audit_slot: when the next one by schedule is due.
 * running_ms: how long albumd ran and looked, over all its starts, when the last pass ended or the last
 * image was given up since.
 * bandwidth: uploads.bandwidth of the config, '' where it names none.
 * base_url: the host it is bound to. boot: the machine's boot when it was last open.
 * generation: how often it was opened for work. witness: the witness as it was then; see witness.ts.
 * clock_offset: between the wall clock and the monotonic one, in milliseconds, when the last pass ended.
 * key_mark: of the API key whose account the records fit; see own-account.ts in daemon.
 * promises: 'broken' where an upload was acknowledged with another delivery address than its credential had told.
 * trouble_told: which troubles the notifier has told, by their keys.
 * lost_at: see state-loss.ts in sync. watching: see watching.ts in daemon.
 * paused: '1' while a person has paused albumd. paused_until: when that ends by itself, in milliseconds since 1970.
 * pruned_at: when history was last looked through for what may be forgotten, in milliseconds since 1970.
 * restored: '1' where the records were found to be old.
 * default_album: the host's id of the account's default album (§4.1), '' where there is none, not set while not known. pid: the process that has it open. quiet_since: see requests-before.ts in daemon.
 * quota_day: the beginning of the quota's day; see account.ts. quota_reset: what was learned of when days begin; see quota-reset.ts in sync.
 * size_limit, largest_taken: how large a file may be; see size-limit.ts in sync. plan: the account's, as the config says. upload_rate: pictures a second.
 */
export function openMeta(db: Db) {
  const get = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?')
  const set = db.prepare<[string, string]>(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const clear = db.prepare<[string]>('DELETE FROM meta WHERE key = ?')
  type Key =
    | 'audit_began'
    | 'audit_newest'
    | 'audit_ended'
    | 'audit_found'
    | 'audit_slot'
    | 'bandwidth'
    | 'base_url'
    | 'boot'
    | 'clock_offset'
    | 'config'
    | 'default_album'
    | 'generation'
    | 'key_mark'
    | 'largest_taken'
    | 'lost_at'
    | 'paused'
    | 'paused_until'
    | 'pid'
    | 'plan'
    | 'promises'
    | 'pruned_at'
    | 'quiet_since'
    | 'quota_day'
    | 'quota_reset'
    | 'restored'
    | 'running_ms'
    | 'trouble_told'
    | 'watching'
    | 'size_limit'
    | 'upload_rate'
    | 'witness'

  return {
    reads: {
      get: (key: Key) => get.get(key)?.value ?? null,
    },
    writes: {
      set: (key: Key, value: string) => void set.run(key, value),
      clear: (key: Key) => void clear.run(key),
    },
  }
}
