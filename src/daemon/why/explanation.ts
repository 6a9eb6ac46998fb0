import type { GoneSummary, TreeSummary } from '../../synced/summary.ts'
import type { FileState } from '../../synced/tables/files.ts'
import type { HistoryEvent } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { LeftOutWhy } from './whereabouts.ts'

/**
 * How a path stands. Beside the states of its record. unseen: it is there, and no scan has seen it yet. absent: it is
 * not there, and no record stands for it. left_out: it is there, and not mirrored. unknown: it can't be looked at, or
 * what holds it is in doubt. folder: a folder that is mirrored.
 */
export type PathState = FileState | 'unseen' | 'absent' | 'left_out' | 'unknown' | 'folder'

/** Something that is to happen, or that a person can do. */
export interface Step {
  what: string
  /** When, at the earliest: ISO 8601. Null: not to be told. */
  at: string | null
  /** To be copied into a shell. */
  command: string | null
}

/**
 * `found`: a scan saw it first; it has no note of its own. `in_doubt`: it was missing, and may have been renamed to what
 * can't be mirrored.
 */
export interface PastEvent {
  at: string
  event: HistoryEvent | 'found' | 'in_doubt'
  detail: string | null
}

export interface PathImage {
  image_id: string
  cdn_url: string | null
  /** Where it is on the host, with slashes; '' is the root. */
  album: string
  name: string
  size: number
  recorded_at: string
  proof: ImageRow['proof']
}

/** An image that is to be given up. */
export interface PathDeletion extends PathImage {
  reason: 'deleted' | 'superseded' | 'ignored'
  state: 'grace' | 'held' | 'unproved' | 'approved'
  since: string
}

/** An ignore rule. `file`: null where it stands in the config, whose entries the lines are then. */
export interface RuleInFile {
  pattern: string
  file: string | null
  line: number
}

/** What is known of a path, as `why --json` has it. Times are ISO 8601. */
export interface Explanation {
  path: string
  mirror: string
  state: PathState
  /** Why it is in that state. */
  reason: string
  /** Where it belongs on the host, with slashes; '' is the root. `id`: null where that album is not recorded. */
  album: { path: string; id: string | null }
  /** As it is on the disk now; null for what is no picture, or not there. */
  file: { size: number; modified_at: string } | null
  /** SHA-256 of the version last read; null where none was. */
  hash: string | null
  /** The image that stands for it: while it is not synced, of an earlier version. */
  image: PathImage | null
  deletions: PathDeletion[]
  /** Why the mirror is guarded, or null. */
  guard: string | null
  failure: { code: string; message: string; attempts: number; next_attempt_at: string | null } | null
  left_out: {
    why: LeftOutWhy
    path: string
    rule: RuleInFile | null
  } | null
  /** Of a folder. */
  counts: TreeSummary | null
  /** Of a folder that is gone. */
  gone: GoneSummary | null
  next: Step[]
  history: PastEvent[]
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
