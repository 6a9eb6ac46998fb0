import type { FileLook, FolderContent } from '../local/look.ts'
import type { Deletions } from '../records/escrow.ts'
import type { FileChange } from '../records/pictures.ts'
import type { FileRow, FileState } from '../synced/tables/files.ts'
import { because, codeOf, type Reason, type ReasonCode } from '../words/reasons.ts'

/** The planner: what must happen, and why. Pure: no disk, host or clock. The commit adds since when a new state is. */

export interface PlanPolicy {
  deletions: Deletions
  /** Whether the image of a file that an ignore rule hides enters escrow. */
  prunes: (file: FileRow) => boolean
}

/** Why a recorded file or folder is missing. gone: its folder does not list it. left_out: by its kind (a link, an empty file).
 * ignored: by a rule. renamed: it may have got a name that can't be mirrored, so its image stays. */
export type MissingReason = 'gone' | 'left_out' | 'ignored' | 'renamed'

/** Compares a folder's records with what was seen in it. Returns no change for a file that is as recorded. */
export function planFolder(
  folder: number,
  known: readonly FileRow[],
  look: FolderContent,
  policy: PlanPolicy,
): FileChange[] {
  const records = new Map(known.map(file => [file.name, file]))
  const changes: FileChange[] = []
  for (const seen of look.files) {
    const record = records.get(seen.name)
    const reason = whyPending(record, seen)
    if (reason) {
      const leaves = record?.state === 'kept' && record.image !== null ? { leaves: record.image } : {}
      const file = pendingRow(folder, record, seen)
      changes.push({ kind: 'pending', file, was: record?.state ?? null, reason, ...leaves })
    }
    records.delete(seen.name)
  }
  const reasonOf = missingReasonIn(look)
  const unknown = new Set(look.problems.map(problem => problem.name))
  for (const file of records.values()) {
    if (unknown.has(file.name)) continue
    const change = planMissing(file, reasonOf(file.name), policy)
    if (change) changes.push(change)
  }
  return changes
}

/** Returns a function that tells why a file or folder of this name is missing. */
export function missingReasonIn({
  aside,
  ignored,
  problems,
}: FolderContent): (name: string) => MissingReason {
  const hidden = new Set(ignored)
  const left = new Set(aside)
  // When a name in the folder is not valid UTF-8, it may be the new name of the missing file.
  const renamed = problems.some(({ code }) => code === 'NAME_NOT_UTF8')
  const otherwise = renamed ? 'renamed' : 'gone'
  return name => (hidden.has(name) ? 'ignored' : left.has(name) ? 'left_out' : otherwise)
}

export function planMissingFolder(
  known: readonly FileRow[],
  why: MissingReason,
  policy: PlanPolicy,
): FileChange[] {
  return known.flatMap(file => planMissing(file, why, policy) ?? [])
}

function whyPending(record: FileRow | undefined, seen: FileLook): Reason | null {
  if (!record) return NEW
  const change = changeOf(record, seen)
  if (record.state === 'hidden' && change && CHANGED.has(codeOf(change))) return change
  if (record.state === 'gone' || record.state === 'kept' || record.state === 'hidden')
    return because('there_again')
  // A file of which no version was read is still new, for example one that was being written when a scan first saw it.
  const isUnread = record.state === 'pending' && record.image === null && record.hash === null
  return change && isUnread ? NEW : change
}

const NEW = because('new')

/** Reasons that show a new version of a file, and not an old one that was moved away and back. */
const CHANGED: ReadonlySet<ReasonCode> = new Set(['size_changed', 'time_changed'])

function changeOf(record: FileRow, seen: FileLook): Reason | null {
  if (record.size !== seen.size) return because('size_changed', { before: record.size, now: seen.size })
  if (record.mtime !== seen.mtime) return because('time_changed')
  if (record.ino !== seen.ino) return because('file_replaced')
  if (record.ctime !== seen.ctime) return because('touched')
  return null
}

function pendingRow(folder: number, record: FileRow | undefined, seen: FileLook): FileRow {
  // The version whose upload is in doubt stays uncertain, because recovery still looks for its image.
  const sameVersion = record?.size === seen.size && record.mtime === seen.mtime
  const state: FileState = record?.state === 'uncertain' && sameVersion ? 'uncertain' : 'pending'
  const since = record?.state === state ? record.since : null
  // An image that is kept for good is not replaced. The file uses it again when the old bytes come back.
  const image = record?.state === 'kept' ? null : (record?.image ?? null)
  // The hash is null until the file was read: until then it may be any picture of its size, moved here, whose image must stay.
  return { ...seen, folder, state, since, image, hash: null, flat: record?.flat ?? 0 }
}

function planMissing(
  file: FileRow,
  why: MissingReason,
  { deletions, prunes }: PlanPolicy,
): FileChange | null {
  // The image is kept for good, whatever becomes of the file.
  if (file.state === 'kept') return null
  // A file without an image becomes hidden and not gone, because recovery may still find the image of an upload in doubt.
  const mayGo = why === 'ignored' && deletions === 'propagate' && file.image !== null
  const pruned = mayGo && prunes(file)
  if (why !== 'gone' && !pruned) return aside(file, 'hidden', because(WHY_HIDDEN[why]))
  if (deletions === 'keep' && file.image !== null) return aside(file, 'kept', because('kept_by_backup'))
  if (file.state === 'gone') return null
  const gone: FileRow = { ...file, state: 'gone', since: null }
  return pruned
    ? { kind: 'pruned', file: gone, was: file.state, reason: because('ignored_on_request') }
    : {
        kind: 'gone',
        file: gone,
        was: file.state,
        reason: whyGone(file),
      }
}

function whyGone({ image, state }: FileRow): Reason {
  if (image !== null) return because('gone')
  return because(state === 'uncertain' ? 'gone_uncertain' : 'gone_unsent')
}

const WHY_HIDDEN = {
  renamed: 'perhaps_renamed',
  ignored: 'hidden_by_rule',
  left_out: 'left_out',
} as const

function aside(file: FileRow, becomes: 'hidden' | 'kept', reason: Reason): FileChange | null {
  return file.state === becomes
    ? null
    : { kind: 'aside', file: { ...file, state: becomes, since: null }, was: file.state, reason }
}
