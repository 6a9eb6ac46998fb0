import type { FileLook, FolderLook } from '../local/look.ts'
import type { Deletions } from '../records/escrow.ts'
import { type FileChange, NEW, TOUCHED } from '../records/pictures.ts'
import type { FileRow, FileState } from '../synced/tables/files.ts'

/**
 * The planner: from what is known and what was seen to what must happen, with the reasons. Pure: no disk, no host,
 * no database, no clock.
 */

export interface PlanPolicy {
  deletions: Deletions
  /** Whether the image of a file that an ignore rule hides is to be given up. */
  prunes: (file: FileRow) => boolean
}

/**
 * Why a recorded file or folder is not among those to be mirrored.
 * gone: the folder that held it does not list it.
 * left_out: it is there, and its kind is left out (a link, an empty file).
 * ignored: it is there, and an ignore rule names it.
 * renamed: it may have got a name that can't be mirrored; its image stays.
 */
export type MissingReason = 'gone' | 'left_out' | 'ignored' | 'renamed'

/** Compares a folder's records with the look at it. What is as it was gives nothing. */
export function planFolder(
  folder: number,
  known: readonly FileRow[],
  look: Pick<FolderLook, 'files' | 'aside' | 'ignored' | 'problems'>,
  policy: PlanPolicy,
  now: number,
): FileChange[] {
  const records = new Map(known.map(file => [file.name, file]))
  const changes: FileChange[] = []
  for (const seen of look.files) {
    const record = records.get(seen.name)
    const reason = whyPending(record, seen)
    if (reason) {
      const leaves = record?.state === 'kept' && record.image !== null ? { leaves: record.image } : {}
      const file = pendingRow(folder, record, seen, now)
      changes.push({ kind: 'pending', file, was: record?.state ?? null, reason, ...leaves })
    }
    records.delete(seen.name)
  }
  const reasonOf = missingReasonIn(look)
  const unknown = new Set(look.problems.map(problem => problem.name))
  for (const file of records.values()) {
    if (unknown.has(file.name)) continue
    const change = planMissing(file, reasonOf(file.name), policy, now)
    if (change) changes.push(change)
  }
  return changes
}

/** Why a file or folder is missing among what its parent lists to be mirrored. */
export function missingReasonIn({
  aside,
  ignored,
  problems,
}: Pick<FolderLook, 'aside' | 'ignored' | 'problems'>): (name: string) => MissingReason {
  const hidden = new Set(ignored)
  const left = new Set(aside)
  // It may have been given a name that can't be mirrored: then it is still there.
  const renamed = problems.some(({ code }) => code === 'NAME_NOT_UTF8')
  const otherwise = renamed ? 'renamed' : 'gone'
  return name => (hidden.has(name) ? 'ignored' : left.has(name) ? 'left_out' : otherwise)
}

/** What becomes of the records of a folder that is no longer there, or that is left out. */
export function planMissingFolder(
  known: readonly FileRow[],
  why: MissingReason,
  policy: PlanPolicy,
  now: number,
): FileChange[] {
  return known.flatMap(file => planMissing(file, why, policy, now) ?? [])
}

/** Of what may have been renamed, to a name that can't be mirrored. */
export const PERHAPS_RENAMED =
  'not known whether it is gone: a name in its folder is not valid UTF-8; rename that'

function whyPending(record: FileRow | undefined, seen: FileLook): string | null {
  if (!record) return NEW
  if (record.state === 'gone' || record.state === 'kept' || record.state === 'hidden') return 'there again'
  if (record.size !== seen.size) return `changed: ${record.size} bytes became ${seen.size}`
  if (record.mtime !== seen.mtime) return 'changed: another modification time'
  if (record.ino !== seen.ino) return 'replaced by another file'
  if (record.ctime !== seen.ctime) return TOUCHED
  return null
}

function pendingRow(folder: number, record: FileRow | undefined, seen: FileLook, now: number): FileRow {
  // An upload whose outcome is not known stays so for the version that was sent: recovery has to look first.
  const sameVersion = record?.size === seen.size && record.mtime === seen.mtime
  const state: FileState = record?.state === 'uncertain' && sameVersion ? 'uncertain' : 'pending'
  const since = record?.state === state ? record.since : now
  // What is kept for good is no version to be replaced. The same bytes find it again by themselves.
  const image = record?.state === 'kept' ? null : (record?.image ?? null)
  // Its bytes may be others all the same: no image of its size goes meanwhile.
  return { ...seen, folder, state, since, image, hash: null }
}

function planMissing(
  file: FileRow,
  why: MissingReason,
  { deletions, prunes }: PlanPolicy,
  now: number,
): FileChange | null {
  // Kept for good: only the picture itself can find its image again.
  if (file.state === 'kept') return null
  // Without an image there is none to give up, and an upload in doubt that is found needs its record.
  const mayGo = why === 'ignored' && deletions === 'propagate' && file.image !== null
  const pruned = mayGo && prunes(file)
  if (why !== 'gone' && !pruned) {
    const reason = why === 'renamed' ? PERHAPS_RENAMED : 'there, but left out; its image stays'
    return aside(file, 'hidden', reason, now)
  }
  if (deletions === 'keep' && file.image !== null)
    return aside(file, 'kept', 'gone from the disk; this mirror keeps images', now)
  if (file.state === 'gone') return null
  const gone: FileRow = { ...file, state: 'gone', since: now }
  return pruned
    ? { kind: 'pruned', file: gone, was: file.state, reason: 'hidden by an ignore rule, and asked for' }
    : { kind: 'gone', file: gone, was: file.state, reason: 'gone from the disk' }
}

function aside(file: FileRow, becomes: 'hidden' | 'kept', reason: string, now: number): FileChange | null {
  return file.state === becomes
    ? null
    : { kind: 'aside', file: { ...file, state: becomes, since: now }, was: file.state, reason }
}

/**
 * Why an image that nothing stands on must wait, or null: its picture may have moved to one of `open`, the files of its
 * size that have yet to find their image.
 */
export function whyImageStays(hash: Buffer, open: readonly Pick<FileRow, 'hash'>[]): string | null {
  const moved = open.some(file => file.hash === null || file.hash.equals(hash))
  return moved ? 'a picture of its size has yet to find its image: it may have moved there' : null
}
