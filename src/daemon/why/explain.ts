import type { Disk } from '../../local/disk.ts'
import { albumName, albumPathOf } from '../../sync/album.ts'
import { planFolder } from '../../sync/plan.ts'
import { folderAbove, fullPath } from '../../sync/tree-path.ts'
import type { GoneSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, codeOf, inWords } from '../../words/reasons.ts'
import { type Explanation, type PathImage, type PathState, type Step, timeOf } from './explanation.ts'
import { doubtOf, folderOf, type Known, NO_FOLDER, NOTHING, recordsOf } from './known.ts'
import {
  deletionSteps,
  everythingWaits,
  goneFolderSteps,
  plainStep,
  type StepParts,
  troubleSteps,
  uploadSteps,
  type Waiting,
} from './next-steps.ts'
import { pastOf } from './past.ts'
import type { PlaceInMirror } from './place.ts'
import { perhapsRenamedTo, type Whereabouts, whereIs } from './whereabouts.ts'
import { goneFolderInWords, leftOutInWords, reasonOf, ruleInFile } from './words.ts'

export type ExplainParts = Omit<StepParts, 'rootInDoubt'> & { disk: Disk }

/** What is known of a path, and what happens next. Looks at the disk; changes nothing. */
export function explain(parts: ExplainParts, place: PlaceInMirror): Explanation {
  const { synced, disk } = parts
  const { mirror, path } = place
  const row = synced.mirrors.of(mirror.folder)
  const where = whereIs(disk, mirror.folder, mirror.ignore, path)
  const known = row ? recordsOf(synced, row, path) : NOTHING
  const full = fullPath(mirror.folder, path)
  const doubt = row ? doubtOf(synced, row, path) : null
  const { counts, gone } = row ? folderOf(synced, row, path, where, known) : NO_FOLDER
  const isFolder = where.kind === 'folder' || counts !== null
  const album = albumPathOf(mirror.album, isFolder ? path : folderAbove(path))
  const renamed = where.kind === 'absent' ? perhapsRenamedTo(disk, mirror.folder, mirror.ignore, path) : null
  const [state, reason] = stateOf(place, where, known, gone, doubt, renamed !== null)
  const explained: Explanation = {
    path: full,
    mirror: mirror.folder,
    state,
    reason,
    album: { path: album.join('/'), id: albumIdOf(synced, album) },
    file:
      where.kind === 'picture'
        ? { size: where.look.size, modified_at: timeOf(where.look.mtime / 1000) }
        : null,
    hash: known.file?.hash?.toString('hex') ?? null,
    image: known.image ? imageOf(synced, known.image) : null,
    deletions: known.given.map(given => ({
      ...imageOf(synced, synced.images.byId(given.image)!),
      reason: given.reason,
      state: given.state,
      since: timeOf(given.since),
    })),
    guard: row?.guard ? inWords(row.guard) : null,
    failure: known.failure,
    left_out:
      where.kind === 'left_out'
        ? {
            why: where.why,
            path: fullPath(mirror.folder, where.at),
            rule: where.rule ? ruleInFile(mirror.folder, where.rule) : null,
          }
        : null,
    counts,
    gone,
    next: [],
    history: pastOf(known.history, known.file),
  }
  const steps = { ...parts, rootInDoubt: row?.guard_code === 'ROOT' }
  const isInDoubt = renamed !== null && (known.file !== undefined || known.isFolder)
  const rename = isInDoubt ? [renameStep(fullPath(mirror.folder, renamed))] : []
  const next = row && gone ? synced.escrow.nextBelow(row.id, path) : undefined
  const ofFolder = gone ? goneFolderSteps(steps, gone, next, full) : []
  return { ...explained, next: [...rename, ...nextOf(steps, explained, where, known), ...ofFolder] }
}

function stateOf(
  { mirror, path }: PlaceInMirror,
  where: Whereabouts,
  known: Known,
  gone: GoneSummary | null,
  doubt: string | null,
  perhapsRenamed: boolean,
): [PathState, string] {
  const { file, history, failure } = known
  if (doubt !== null) return [file?.state ?? 'unknown', doubt]
  if (where.kind === 'unknown') return ['unknown', `it can't be looked at: ${where.message}`]
  if (where.kind === 'left_out')
    return [file ? file.state : 'left_out', leftOutInWords(mirror.folder, path, where)]
  if (where.kind === 'folder') return ['folder', 'its pictures are mirrored']
  if (where.kind === 'picture') {
    if (!file) return ['unseen', 'it is there, and no scan has seen it yet']
    // Zero asks for its hash at the next look, whatever that shows.
    const record = { ...file, ctime: file.ctime || where.look.ctime }
    const [change] = planFolder(file.folder, [record], { ...LOOK, files: [where.look] }, POLICY, 0)
    const since = change ? ` (since then: ${inWords(change.reason)})` : ''
    return [file.state, `${reasonOf(file, history, failure)}${since}`]
  }
  return stateOfAbsent(known, gone, perhapsRenamed)
}

function stateOfAbsent(
  { file, history, failure, isFolder }: Known,
  gone: GoneSummary | null,
  perhapsRenamed: boolean,
): [PathState, string] {
  const renamed = inWords(because('perhaps_renamed'))
  if (perhapsRenamed && (file?.state === 'hidden' || (!file && isFolder))) return ['unknown', renamed]
  if (!file)
    return [
      'absent',
      whatBecame(history) ??
        (gone
          ? goneFolderInWords(gone)
          : isFolder
            ? 'the folder is gone'
            : 'it is not there, and nothing is known of it'),
    ]
  const last = history.findLast(({ event }) => event === 'left_out')?.detail
  const isUnknown = file.state === 'hidden' && last != null && codeOf(last) === 'perhaps_renamed'
  const since = perhapsRenamed ? renamed : inWords(because('gone'))
  const missing = file.state === 'gone' || file.state === 'kept' ? '' : ` (since then: ${since})`
  return [isUnknown ? 'unknown' : file.state, `${reasonOf(file, history, failure)}${missing}`]
}

/** For the planner, which is asked about one file alone. */
const LOOK = { files: [], aside: [], ignored: [], problems: [] }
const POLICY = { deletions: 'keep', prunes: () => false } as const

function whatBecame(history: Known['history']): string | null {
  const last = history.at(-1)
  if (!last) return null
  const what = last.detail ? inWords(last.detail) : last.event
  return last.event === 'deleted' ? `its image was deleted: ${what}` : `it is not there any more: ${what}`
}

function nextOf(parts: StepParts, explained: Explanation, where: Whereabouts, known: Known): Step[] {
  const { state, path } = explained
  const ofImages = known.given.flatMap(given => deletionSteps(parts, given, path))
  if (explained.guard !== null) ofImages.unshift(plainStep(explained.guard))
  switch (state) {
    case 'pending':
    case 'unseen':
      return [...uploadSteps(parts, waitingOf(where, known)), ...ofImages]
    case 'failed':
    case 'uncertain':
      return [...troubleSteps(parts, explained), ...ofImages]
    case 'linked':
      return [plainStep('its bytes are compared with', 'albumd adopt --verify'), ...ofImages]
    case 'kept':
      return [
        plainStep('its image stays; a file with the same bytes that comes back finds it again'),
        ...ofImages,
      ]
    case 'hidden':
    case 'left_out':
      return [...leftOutSteps(explained), ...ofImages]
    default:
      return where.kind === 'picture' || ofImages.length > 0
        ? changedSteps(parts, explained, ofImages)
        : ofImages
  }
}

function waitingOf(where: Whereabouts, { file }: Known): Waiting {
  return { changed: where.kind === 'picture' ? where.look.ctime / 1000 : null, since: file?.since ?? null }
}

/** A file that no longer is what is recorded is looked at again by the next scan. */
function changedSteps(parts: StepParts, { state, reason }: Explanation, ofImages: Step[]): Step[] {
  if (state !== 'synced' || !reason.includes('(since then: ')) return ofImages
  return [everythingWaits(parts) ?? plainStep('it is looked at again'), ...ofImages]
}

function leftOutSteps({ left_out, image }: Explanation): Step[] {
  if (left_out === null) return [plainStep('it is looked at again')]
  const stays = image ? 'its image stays on the host' : 'it is not mirrored'
  return left_out.why === 'ignored' && image
    ? [plainStep(`${stays}; images of what a rule hides are given up with`, 'albumd sync --prune-ignored')]
    : [plainStep(stays)]
}

/** `name`: the path of one that is not valid UTF-8. */
function renameStep(name: string): Step {
  return plainStep(
    `until ${name} has another name, nothing that is missing from its folder counts as deleted`,
  )
}

function imageOf(synced: Synced, image: ImageRow): PathImage {
  const { remote_id, cdn_url, album, name, size, recorded_at, proof } = image
  const at = albumName(synced, album)
  return { image_id: remote_id, cdn_url, album: at, name, size, recorded_at: timeOf(recorded_at), proof }
}

/** The host's id of an album, as far as it is recorded. */
function albumIdOf({ albums }: Synced, path: readonly string[]): string | null {
  let at: { id: number; remote_id: string } | undefined
  for (const name of path) {
    at = albums.named(at?.id ?? null, name)
    if (!at) return null
  }
  return at?.remote_id ?? null
}
