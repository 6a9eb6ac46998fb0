import { locationOf } from '../../records/versions.ts'
import type { GoneSummary, TreeSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { Location } from '../../synced/tables/history.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because } from '../../words/reasons.ts'
import type { OnDisk } from '../scan/index.ts'
import { folderAbove } from '../tree-path.ts'
import {
  bringBack,
  deletionSteps,
  isInGrace,
  mayHaveMoved,
  openMove,
  waitsForPerson,
  whereNow,
} from './deletion-steps.ts'
import { type MirrorContext, type Step, step } from './steps.ts'

/** What became of the pictures of a folder that is gone, and of their images. */
export interface GoneFolder extends GoneSummary {
  /** Pictures that lie elsewhere now. Their images are among those that wait, are held, are kept or were deleted. */
  moved: number
  /** The folder, below the mirror, that all of `moved` went to; null: there is none, or there are several. */
  moved_to: string | null
}

/** What is recorded below a path that is a folder, or was a folder before it went missing. */
export function folderOf(
  synced: Synced,
  { id }: MirrorRow,
  path: string,
  onDisk: OnDisk,
  { file, isFolder }: { file: FileRow | undefined; isFolder: boolean },
): { counts: TreeSummary | null; gone: GoneFolder | null } {
  const isGone = onDisk.kind === 'absent' && !file && (isFolder || wasFolder(synced, id, path))
  const isUnread = onDisk.kind === 'unknown' && isFolder
  if (onDisk.kind !== 'folder' && !isUnread && !isGone) return { counts: null, gone: null }
  const counts = synced.summaries.below(id, path)
  const { gone: _gone, kept: _kept, hidden: _hidden, ...others } = counts.states
  // Until a scan has found the folder gone, some of its pictures are recorded in other states than gone, kept and hidden.
  const isFound = Object.keys(others).length === 0
  const folder = { mirror: id, path }
  return {
    counts,
    gone: isGone && isFound ? { ...synced.summaries.goneBelow(folder), ...movesOf(synced, folder) } : null,
  }
}

/** Whether images of pictures below a path are in escrow, are kept for good, or were deleted. */
export function wasFolder({ summaries }: Synced, mirror: number, path: string): boolean {
  return Object.values(summaries.goneBelow({ mirror, path })).some(n => n > 0)
}

function movesOf(synced: Synced, folder: Location): Pick<GoneFolder, 'moved' | 'moved_to'> {
  const waiting = synced.escrow.below(folder).flatMap(entry => {
    const to = whereNow(synced, entry)
    return to === null ? [] : [{ path: entry.path, to }]
  })
  const kept = synced.summaries.keptBelow(folder).flatMap(({ path, ...picture }) => {
    const file = synced.files.withBytes(picture)
    return file ? [{ path, to: locationOf(synced, file).path }] : []
  })
  const moves = new Map(
    [...synced.summaries.movedBelow(folder), ...waiting, ...kept].map(({ path, to }) => [path, to]),
  )
  const folders = Array.from(moves, ([path, to]) => folderNow(path.slice(folder.path.length + 1), to))
  const [only, another] = new Set(folders)
  return { moved: moves.size, moved_to: another === undefined ? (only ?? null) : null }
}

/** The folder that took the place of a folder. `within`: a picture's path in the old folder; `to`: the picture's path now. */
function folderNow(within: string, to: string): string {
  if (to === within) return ''
  return to.endsWith(`/${within}`) ? to.slice(0, -within.length - 1) : folderAbove(to)
}

/** What happens with the images of a folder that is gone. `full`: its absolute path. */
export function goneFolderSteps(
  context: MirrorContext,
  folder: Location,
  { waiting, held }: GoneFolder,
  full: string,
): Step[] {
  const { synced } = context
  const entries = synced.escrow.below(folder)
  const first = entries.find(entry => !waitsForPerson(entry))
  const steps = first ? deletionSteps(context, first, full, 'first') : []
  const [missed] = entries
    .filter(entry => entry.reason === 'deleted' && whereNow(synced, entry) === null)
    .sort((one, other) => other.since - one.since)
  if (missed) steps.push(...bringBack(context, missed, folder.path, full))
  const images = waiting + held
  if (images === 0) return steps
  const areInGrace = entries.some(
    entry => !waitsForPerson(entry) && isInGrace(context, entry) && openMove(synced, entry) === null,
  )
  if ((areInGrace || held > 0) && !entries.some(entry => mayHaveMoved(synced, entry)))
    steps.push(step(because(areInGrace ? 'end_graces' : 'approve_folder', { path: full, images })))
  return [...steps, step(because('keep_folder', { path: full, images }))]
}
