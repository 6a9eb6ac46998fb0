import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import type { FileKey } from './files.ts'

/** How a value is written in the database. A missing value is null. */
interface Codec<T> {
  read(text: string): T
  write(value: T): string
}

const number: Codec<number> = { read: Number, write: String }
const text: Codec<string> = { read: String, write: String }
/** Only true is written. A flag that is not set is null. */
const flag: Codec<true> = { read: () => true, write: () => '1' }
const json = <T>(): Codec<T> => ({ read: JSON.parse, write: JSON.stringify })

/** A deletion of an album that took more than was recorded. */
export type Excess = {
  /** The album's path on the host. */
  album: string
  recorded: { albums: number; images: number }
  /** What was deleted, by the host's count. */
  deleted: { albums: number; images: number }
  /** The paths, below their mirror, of the first hundred pictures whose images were in the album. */
  paths: string[]
}

/**
 * How the dimensions of a picture are declared (§4.1): not at all, as they are stored, as EXIF turns them, or with
 * `skip_dimension_check`.
 */
export type DimensionReading = 'undeclared' | 'stored' | 'turned' | 'skip'

/**
 * Which MIME type is declared of a picture whose name stands for another type than its bytes: that of the bytes, or that of
 * the name.
 */
export type TypeReading = 'bytes' | 'name'

/** Which declaration the host takes for one kind of picture, learned from its answers (uploads/dimensions.ts). */
export interface LearnedDimensions {
  /** Null: not known yet. */
  reading: DimensionReading | null
  /** When it was learned: milliseconds since 1970. */
  since: number
  /**
   * Another reading: the host refused the last pictures in a row with `reading`, and took all of them with this reading.
   * `pictures`: how many they were.
   */
  rival?: { reading: DimensionReading; pictures: number }
}

/** The host asked for a long wait (Retry-After, §7) when it refused a request to `endpoint`. */
export interface AskedWait {
  endpoint: string
  code: string
  message: Reason
  /** Null: without an answer. */
  status: number | null
  /** How long, in milliseconds. */
  ms: number
  /** Milliseconds since 1970. */
  until: number
}

/**
 * Single facts about the state, grouped by the room that owns them. Times are milliseconds since 1970 unless the fact says
 * otherwise.
 */
const FACTS = {
  // daemon/state
  /** The host that the state is bound to. */
  base_url: text,
  /** The process that has the state open. */
  pid: number,
  /** Fingerprint of the config that the process at work has taken. */
  config: text,
  /** How often the state was opened for work, and the witness file when the state was last opened (synced/witness.ts). */
  generation: number,
  witness: text,
  /** The records were found to be lost or old, and the albums have not been compared with the host since. */
  restored: flag,
  /** Mark of the API key whose account the records fit (own-account.ts). */
  key_mark: text,
  /** The boot, and the monotonic time in this boot since which no request was sent. */
  quiet_since: text,
  /** The last long wait that the host asked for, by endpoint. */
  asked_waits: json<Readonly<Record<string, AskedWait>>>(),

  // records
  /** Running time: milliseconds that albumd has run, over all its starts. */
  running_ms: number,

  // sync
  /** The machine's boot when the state was last open, and the monotonic time then (clock.ts). */
  boot: text,
  /** Monotonic time when the state was lost; earlier uploads may still arrive (clock.ts). */
  lost_at: number,
  /** The difference of the wall clock and the monotonic clock when the last pass ended, in milliseconds (clock.ts). */
  clock_offset: number,
  /** When old rows of the history were last dropped (pass.ts). */
  pruned_at: number,
  /** The host's id of the account's default album (§4.1). '' when there is none, null when it is not known. */
  default_album: text,
  /** The delivery base that the host's listings name (§4.4), an absolute address (listing/delivery.ts). */
  cdn_base: text,
  /**
   * The host's last deletion of an album that took more than was recorded (deletions/send-delete.ts). The next audit that
   * comes to its end removes it.
   */
  deleted_more: json<Excess & { at: number }>(),
  /** An upload was acknowledged with another delivery address than its credential had promised (uploads/sender.ts). */
  promises_broken: flag,
  /** Which declaration of dimensions the host takes, by the kind of the picture (uploads/dimensions.ts). */
  dimensions: json<Readonly<Record<string, LearnedDimensions>>>(),
  /** Which MIME type the host takes where name and bytes differ (uploads/declaration.ts). */
  declared_type: text as Codec<TypeReading>,
  /** Pictures that the host may be unable to take (uploads/suspects.ts), the latest last. */
  suspects: json<readonly FileKey[]>(),

  // sync/quota
  /** The account's plan, as the config says. */
  plan: text,
  /** Beginning of the quota's day, in ISO 8601. */
  quota_day: text,
  /** When the host's days begin, learned from its answers (quota-day.ts). */
  quota_reset: json<{ days: number; from: number; to: number }>(),
  /** The smallest file that the host refused as too large, and when it was last asked (limits.ts). Bytes. */
  size_limit: json<{ refused: number; askedAt: number }>(),
  /** The largest file that the host has taken, in bytes. */
  largest_taken: number,
  /** The pace of the last uploads, in pictures a second. */
  upload_rate: number,

  // sync/audit
  /** When the audit under way began, and the newest image's row at that time. */
  audit_began: number,
  audit_newest: number,
  /** A failure of the host has ended the audit early. The next run continues this audit. */
  audit_stopped: flag,
  /** When the last audit ended, and how many differences it found. */
  audit_ended: number,
  audit_found: number,

  // daemon
  /** When the next scheduled audit is due. */
  audit_slot: number,
  /** A person has paused albumd, and when the pause ends by itself. */
  paused: flag,
  paused_until: number,
  /** uploads.bandwidth of the config. '' when the config names none. */
  bandwidth: text,
  /** Why deletions wait for the shared store; null: they do not (shared/claims.ts). */
  claim_doubt: text as unknown as Codec<Reason>,
  /** How the folders are watched (watch/watching.ts). */
  watching: text,
  /** The alerts that the notifier has told, by their keys. */
  trouble_told: text,
}

type Key = keyof typeof FACTS
type Value<K extends Key> = (typeof FACTS)[K] extends Codec<infer T> ? T : never

/** One typed value for each key of FACTS. */
export function openMeta({ run, value }: Statements) {
  const get = value<[key: Key], string | undefined>('SELECT value FROM meta WHERE key = ?')
  const set = run<[key: Key, value: string]>(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const codecOf = <K extends Key>(key: K) => FACTS[key] as unknown as Codec<Value<K>>

  return {
    reads: {
      get<K extends Key>(key: K): Value<K> | null {
        const written = get(key)
        return written === undefined ? null : codecOf(key).read(written)
      },
    },
    writes: {
      set<K extends Key>(key: K, value: Value<K>): void {
        set(key, codecOf(key).write(value))
      },
      clear: run<[key: Key]>('DELETE FROM meta WHERE key = ?'),
    },
  }
}
