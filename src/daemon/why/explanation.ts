import type { GoneSummary, TreeSummary } from '../../synced/summary.ts'
import type { FileState } from '../../synced/tables/files.ts'
import type { HistoryEvent } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'

/**
 * The state of a path: the state of its record, or one of these.
 * unseen: it is on the disk, and no scan has seen it yet.
 * absent: it is not on the disk, and no record names it.
 * left_out: it is on the disk, and not mirrored.
 * unknown: it can't be looked at, or a folder above it is in doubt.
 * folder: a folder that is mirrored.
 */
export type PathState = FileState | 'unseen' | 'absent' | 'left_out' | 'unknown' | 'folder'

/** Why something on the disk is not mirrored. */
export type LeftOutWhy = 'hidden' | 'links' | 'ignored' | 'format' | 'empty' | 'ignore_file' | 'NAME_NOT_UTF8'

/** Something that will happen, or that a person can do. */
export interface Step {
  what: string
  /** When, at the earliest: ISO 8601. Null: nobody knows. */
  at: string | null
  /** A command to be copied into a shell. */
  command: string | null
}

/**
 * An event of the history. `found`: a scan saw the picture for the first time; the history has no note of its own for this.
 * `in_doubt`: the file was missing, and may have been renamed to a name that can't be mirrored.
 */
export interface PastEvent {
  at: string
  event: HistoryEvent | 'found' | 'in_doubt'
  detail: string | null
}

export interface PathImage {
  image_id: string
  cdn_url: string | null
  /** The path of its album on the host; '' is the root. */
  album: string
  name: string
  size: number
  recorded_at: string
  proof: ImageRow['proof']
}

/** An image that waits for its deletion. */
export interface PathDeletion extends PathImage {
  reason: 'deleted' | 'superseded' | 'ignored'
  state: 'grace' | 'held' | 'unproved' | 'approved'
  since: string
}

/** An ignore rule. `file`: null for a rule of the config; then `line` is the number of the list entry. */
export interface RuleInFile {
  pattern: string
  file: string | null
  line: number
}

/** What is known of a path, as `why --json` shows it. Times are ISO 8601. */
export interface Explanation {
  path: string
  mirror: string
  state: PathState
  /** Why the path is in this state. */
  reason: string
  /** The album that the path belongs to; '' is the root. `id`: null when this album is not recorded. */
  album: { path: string; id: string | null }
  /** The picture on the disk at this moment; null when there is none. */
  file: { size: number; modified_at: string } | null
  /** SHA-256 of the version that was read last; null when none was read. */
  hash: string | null
  /** The image that the file uses. While the file is not synced, the image shows an earlier version. */
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
  /** The pictures below the path, when the path is a folder. */
  counts: TreeSummary | null
  /** The images of the pictures below the path, when the path was a folder that is gone. */
  gone: GoneSummary | null
  next: Step[]
  history: PastEvent[]
}
