import type { Millis } from '../../protocol/clock.ts'
import type { Format } from '../../protocol/formats.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import type { FileKey } from './files.ts'

/** A picture that the host refused: its MIME type, and how. `crossed`: since then, the host took a picture of another type.
 * `alike`: it is one of the latest that were all refused in this way. */
export type Refused = FileKey & { mime?: string; way?: string; crossed?: true; alike?: boolean }

/** How the text in the database is turned into a value and back. A missing value is null. */
interface Codec<T> {
  read(text: string): T
  write(value: T): string
}

const number: Codec<number> = { read: Number, write: String }
const text: Codec<string> = { read: String, write: String }
/** A flag is written only when it is true. A missing flag reads as null. */
const flag: Codec<true> = { read: () => true, write: () => '1' }
const json = <T>(): Codec<T> => ({ read: JSON.parse, write: JSON.stringify })

/** What the store that the account's machines share told. */
export interface MachinesTold {
  away: { reason: Reason; since: Millis } | null
  machines: {
    name: string
    is_this: boolean
    /** See `MachineStatus`. */
    state: 'works' | 'ended' | 'silent' | 'unknown'
    seen: Millis
    albums: string[]
    used_today: number
  }[]
}

/** What a host does to pictures between upload and delivery. encoded anew: only the name and the dimensions stay the same. */
export type Delivery = 'as sent' | 'without metadata' | 'packed anew' | 'encoded anew'
export type Deliveries = Partial<Record<Format, Delivery>>

/** A span of time of which nothing is recorded. `to`: null until an audit has compared the albums. */
export interface Gap {
  from: Millis
  to: Millis | null
}

/** A span of ledger time (records/ledger-time.ts), `ahead` of the wall clock. `to`: its last commit. Null: it goes on. */
export interface ClockSpan {
  from: Millis
  to: Millis | null
  ahead: number
}

/** The host asked for a long wait (Retry-After, §7) when it refused a request to `endpoint`. */
export interface AskedWait {
  endpoint: string
  code: string
  message: Reason
  /** The status of the answer. Null: no answer came. */
  status: number | null
  /** How long the host asked to wait, in milliseconds. */
  ms: number
  /** When the wait ends. */
  until: Millis
}

/** Single facts, by the room that owns them. Times are milliseconds since 1970 unless a fact says otherwise. */
const FACTS = {
  // daemon/state
  /** The {base_url} of the host whose images are recorded here. */
  base_url: text,
  /** The id of the process that has the state open. */
  pid: number,
  /** A fingerprint of the config with which the running process works. */
  config: text,
  /** Why the running process refused the config that it was told to read again. Null: it works with the last one. */
  config_refused: text,
  /** Reading the config again can't mend `config_refused`, because albumd must be stopped for the change. */
  config_needs_stop: flag,
  /** Why the running process refused the key that it read again. Null: it works with the last one. */
  key_refused: text,
  /** How often the state was opened for work, and what the witness looked like then (synced/witness.ts). */
  generation: number,
  witness: text,
  /** The records were lost or replaced by an older copy, and albumd has not compared the albums with the host since then. */
  restored: flag,
  /** A salted hash of the API key whose account was last found to hold the recorded images (own-account.ts). */
  key_mark: text,
  /** Boot and requests, for the rate of the next process (last-process.ts). Null while one works and after an unclean end. */
  quiet_since: text,
  /** For each endpoint, the last long wait that the host asked for. */
  asked_waits: json<Readonly<Record<string, AskedWait>>>(),

  // records
  /** Running time: how many milliseconds albumd has run, over all its starts. */
  running_ms: number,
  /** When `running_ms` was recorded. */
  running_at: number,
  /** Before this time, nobody knows which versions the host has given up (records/versions.ts). */
  versions_since: number,
  /** Spans of time of which nothing is known, because older copies of the records were put back (records/versions.ts). */
  records_gaps: json<Gap[]>(),
  /** The latest ledger time, and its spans, the earliest first. */
  ledger_time: number,
  clock_spans: json<ClockSpan[]>(),

  // sync
  /** The id of the machine's boot when the state was last open, and the monotonic time then (clock.ts). */
  boot: text,
  /** When this boot began, by the wall clock as it was when the state was last opened (clock.ts). */
  booted_at: number,
  /** The monotonic time at which the state loss was found. Uploads that were sent earlier may still arrive (clock.ts). */
  lost_at: number,
  /** A monotonic time, at most a minute before a credential was last asked for (clock.ts). */
  asked_at: number,
  /** What was known of the wall clock when the last pass ended (clock.ts). */
  wall_clock: json<{ offset: number; setAt: number; isFirst?: true }>(),
  /** When old rows of the history were last dropped (pass.ts). */
  pruned_at: number,
  /** The host's id of the account's default album (§4.1). '' when there is none, null when it is not known. */
  default_album: text,
  /** The address below which the host delivers images, as its listings name it (§4.4, listing/delivery.ts). */
  cdn_base: text,
  /** How the host delivers pictures of each format, as its deliveries have shown (delivered/learned.ts). */
  delivery: json<Deliveries>(),
  /** The host has once acknowledged an upload with another delivery address than step 1 had promised (uploads/sender.ts), or with
   * none, and shows no image for the promised one (uploads/album-recovery.ts). */
  promises_broken: flag,
  /** The host has deleted an older image of a picture while the newer one was in the same album under the same name. So it
   * puts no new version into the image of the old one (deletions/delete-images.ts). */
  versions_apart: flag,
  /** The host took a picture only with `skip_dimension_check` because EXIF turns the picture (uploads/sender.ts). */
  turned_skip: flag,
  /** Pictures that the host refused and has not taken since (uploads/breaker.ts), the latest last. */
  refused: json<readonly Refused[]>(),

  // sync/quota
  /** The account's plan, as the config says. */
  plan: text,
  /** When the quota's present day began, in ISO 8601. */
  quota_day: text,
  /** How many images a day the config allowed when the host last said that the quota is used up. */
  quota_limit: number,
  /** A person wants the host asked now, although it said that the quota is used up. The host's next answer ends the wish. */
  quota_asked: flag,
  /** When the host last granted a credential again after the quota was used up. */
  quota_opened: number,
  /** How fast the last uploads went, in pictures a second. */
  upload_rate: number,

  // sync/audit
  /** When the present audit began, and the row of the newest image at that time. */
  audit_began: number,
  audit_newest: number,
  /** A failure of the host has ended the audit early. The next run goes on with it. */
  audit_stopped: flag,
  audit_ended: number,

  // daemon
  /** When the next scheduled audit is due. */
  audit_slot: number,
  /** Whether a person has paused albumd, and at what time the pause ends by itself. */
  paused: flag,
  paused_until: number,
  /** The setting `uploads.bandwidth`; '' when the config has none. */
  bandwidth: text,
  /** The setting `uploads.strip`. */
  strip: text,
  /** The setting `uploads.convert`, where it is carried out. */
  convert: text,
  /** Why this machine does nothing: another machine has its albums. Null: it has them, or did not ask for them. */
  album_taken: text as unknown as Codec<Reason>,
  /** Why deletions wait for the store that the account's machines share (shared/claims.ts). Null: they do not wait. */
  claim_doubt: text as unknown as Codec<Reason>,
  /** The machines that share the account, and why their store can't be used (report/machines.ts). */
  account_machines: json<MachinesTold>(),
  /** How the folders are watched at the moment (watch/watching.ts). */
  watching: text,
  /** Why `notify.on_upload` failed the last time it ran. */
  upload_command_failed: text,
  /** The same of `notify.on_trouble` and `notify.heartbeat`. */
  trouble_command_failed: text,
  heartbeat_failed: text,
  /** The keys of the alerts that the notifier has sent to people. */
  trouble_told: text,
}

type Key = keyof typeof FACTS

/** Facts about the process itself. When a process has changed nothing else, the next one may lack them (see `openSynced`). */
const NOTES: ReadonlySet<Key> = new Set<Key>([
  ...(['pid', 'generation', 'boot', 'booted_at', 'running_ms', 'running_at', 'ledger_time'] as const),
  ...(['wall_clock', 'pruned_at'] as const),
])

type Value<K extends Key> = (typeof FACTS)[K] extends Codec<infer T> ? T : never

/** Reads and writes the facts, each with its own type. */
export function openMeta({ kept, noteByKey, runByKey, value }: Statements) {
  const written = kept('meta', value<[key: Key], string | undefined>('SELECT value FROM meta WHERE key = ?'))
  const SET = 'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value'
  const CLEAR = 'DELETE FROM meta WHERE key = ?'
  const lasting = { set: runByKey<[Key, string]>(SET), clear: runByKey<[Key]>(CLEAR) }
  const noted = { set: noteByKey<[Key, string]>(SET), clear: noteByKey<[Key]>(CLEAR) }
  const writesOf = (key: Key) => (NOTES.has(key) ? noted : lasting)
  const codecOf = <K extends Key>(key: K) => FACTS[key] as unknown as Codec<Value<K>>
  const get = kept('meta', <K extends Key>(key: K): Value<K> | null => {
    const text = written(key)
    return text === undefined ? null : codecOf(key).read(text)
  })

  return {
    reads: { get: get as <K extends Key>(key: K) => Value<K> | null },
    writes: {
      set<K extends Key>(key: K, value: Value<K>): void {
        const text = codecOf(key).write(value)
        if (written(key) !== text) writesOf(key).set(key, text)
      },
      clear: (key: Key) => writesOf(key).clear(key),
    },
  }
}
