import type { Config } from '../../config/schema.ts'
import type { Disk } from '../../local/disk.ts'
import { realDisk } from '../../local/real-disk.ts'
import { albumName, albumPathOf } from '../../sync/album.ts'
import {
  deletionOutlook,
  failureOutlook,
  goneFolderOutlook,
  haltOrNobody,
  type NextStep,
  next,
  type OutlookContext,
  uploadOutlook,
} from '../../sync/outlook.ts'
import { planFolder } from '../../sync/plan.ts'
import { folderAbove, fullPath } from '../../sync/tree-path.ts'
import type { GoneSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { because, codeOf, inWords, type Reason } from '../../words/reasons.ts'
import { uploadsWaitUntil } from '../loop/rest.ts'
import { isoTime } from '../report/amounts.ts'
import { allowanceOf } from '../report/quota-status.ts'
import { readStatus } from '../report/status.ts'
import { pauseAt } from '../state/pause.ts'
import { readState } from '../state/state.ts'
import type { Explanation, PathImage, PathState } from './explanation.ts'
import { type Location, locationsOf } from './location.ts'
import {
  contentOutlook,
  lookAtPath,
  type OnDisk,
  perhapsRenamedTo,
  ruleInFile,
  whyLeftOut,
} from './on-disk.ts'
import {
  doubtOf,
  folderOf,
  NO_FOLDER,
  NOTHING,
  pastOf,
  type Recorded,
  reasonOf,
  recordsOf,
  whatBecame,
} from './recorded.ts'

/** `status`: of the account and of the process that works. */
export interface ExplainContext extends Pick<OutlookContext, 'synced' | 'now' | 'status'> {
  config: Config
  disk: Disk
}

/** An explanation with its reasons as codes. */
type Explained = Omit<Explanation, 'reason' | 'next'> & { reason: Reason; outlook: NextStep[] }

/**
 * What is known of a path: absolute, below a mirror's folder, or below the working folder. Several answers when several
 * mirrors know the path, none when it lies in no mirror. Reads the state and the disk. `now`: milliseconds since 1970.
 */
export async function explainPath(config: Config, path: string, now: number): Promise<Explanation[]> {
  const status = readStatus(config, now)
  const explained = readState(config, synced =>
    locationsOf(config, synced, path).map(at => ({
      at,
      ...lookUp({ config, synced, disk: realDisk, status, now }, at),
    })),
  )
  return Promise.all(explained.map(async ({ at, ...one }) => inWordsOf(await withContent(config, at, one))))
}

/** What is known of one location, and what happens next. Looks at the disk, and changes nothing. */
export function explain(context: ExplainContext, at: Location): Explanation {
  return inWordsOf(lookUp(context, at))
}

/** Reads a picture that is to be uploaded, because its bytes may keep it from being sent. */
async function withContent(config: Config, at: Location, one: Explained): Promise<Explained> {
  if (one.file === null || (one.state !== 'pending' && one.state !== 'unseen')) return one
  const content = await contentOutlook(config, at)
  return content
    ? { ...one, outlook: [content, ...one.outlook.filter(({ why }) => codeOf(why) !== 'upload_due')] }
    : one
}

function inWordsOf({ reason, outlook, ...rest }: Explained): Explanation {
  const steps = outlook.map(({ why, at, command }) => ({
    what: inWords(why),
    at: isoTime(at),
    command,
  }))
  return { ...rest, reason: inWords(reason), next: steps }
}

function lookUp(context: ExplainContext, { mirror, path }: Location): Explained {
  const { config, synced, disk, now } = context
  const row = synced.mirrors.of(mirror.folder)
  const found = lookAtPath(disk, mirror.folder, mirror.ignore, path)
  const recorded = row ? recordsOf(synced, row, path) : NOTHING
  const { counts, gone } = row ? folderOf(synced, row, path, found, recorded) : NO_FOLDER
  const full = fullPath(mirror.folder, path)
  const album = albumPathOf(
    mirror.album,
    found.kind === 'folder' || counts !== null ? path : folderAbove(path),
  )
  const renamed = found.kind === 'absent' ? perhapsRenamedTo(disk, mirror.folder, mirror.ignore, path) : null
  const known = { mirror, path, found, recorded, gone, renamed }
  const doubt = row ? doubtOf(synced, row, path) : null
  const { state, reason, since } =
    doubt === null
      ? stateOf(known)
      : { state: recorded.file?.state ?? ('unknown' as const), reason: doubt, since: null }
  const { file, image, escrow, failure, history } = recorded
  const outlookContext: OutlookContext = {
    ...context,
    mirrors: config.mirrors,
    allowance: allowanceOf(config),
    settleMs: config.watch.settle,
    paused: pauseAt(synced, now),
    uploadsWaitUntil: uploadsWaitUntil(config.uploads.hours, now),
    rootInDoubt: row?.guard_code === 'ROOT',
  }
  return {
    path: full,
    mirror: mirror.folder,
    state,
    reason: since === null ? reason : because('since_then', { why: reason, since }),
    album: { path: album.join('/'), id: albumIdOf(synced, album) },
    file:
      found.kind === 'picture'
        ? { size: found.look.size, modified_at: isoTime(found.look.mtime / 1000) }
        : null,
    hash: file?.hash?.toString('hex') ?? null,
    image: image ? imageOf(synced, image) : null,
    deletions: escrow.map(entry => ({
      ...imageOf(synced, synced.images.byId(entry.image)!),
      reason: entry.reason,
      state: entry.state,
      since: isoTime(entry.since),
    })),
    guard: row?.guard ? inWords(row.guard) : null,
    failure: failure
      ? {
          code: failure.code,
          message: inWords(failure.message),
          attempts: failure.attempts,
          next_attempt_at: isoTime(failure.next_attempt_at),
        }
      : null,
    left_out:
      found.kind === 'left_out'
        ? {
            why: found.why,
            path: fullPath(mirror.folder, found.at),
            rule: found.rule ? ruleInFile(mirror.folder, found.rule) : null,
          }
        : null,
    counts,
    gone,
    outlook: outlookOf(outlookContext, known, {
      state,
      isChanged: since !== null,
      full,
      guard: row?.guard ?? null,
    }),
    history: pastOf(history, file),
  }
}

/** What disk and records show of a location. */
interface Known extends Location {
  found: OnDisk
  recorded: Recorded
  gone: GoneSummary | null
  /** A name that is not UTF-8 and that the path may have been renamed to, below the mirror's folder. */
  renamed: string | null
}

/** `since`: what has changed on the disk since the last scan, or null. */
interface StateOfPath {
  state: PathState
  reason: Reason
  since: Reason | null
}

function stateOf({ mirror, path, found, recorded, gone, renamed }: Known): StateOfPath {
  const { file } = recorded
  const is = (state: PathState, reason: Reason, since: Reason | null = null) => ({ state, reason, since })
  switch (found.kind) {
    case 'unknown':
      return is('unknown', because('cannot_be_looked_at', { words: found.message }))
    case 'left_out':
      return is(file ? file.state : 'left_out', whyLeftOut(mirror.folder, path, found))
    case 'folder':
      return is('folder', because('folder_is_mirrored'))
    case 'picture': {
      if (!file) return is('unseen', because('not_scanned_yet'))
      // A ctime of 0 makes the next scan read the file again, whatever its ctime is.
      const record = { ...file, ctime: file.ctime || found.look.ctime }
      const [change] = planFolder(file.folder, [record], { ...NO_OTHERS, files: [found.look] }, KEEP, 0)
      return is(file.state, reasonOf(file, recorded), change?.reason ?? null)
    }
    case 'absent':
      return stateOfAbsent(recorded, gone, renamed !== null)
  }
}

function stateOfAbsent(recorded: Recorded, gone: GoneSummary | null, mayBeRenamed: boolean): StateOfPath {
  const { file, history, isFolder } = recorded
  const renamed = because('perhaps_renamed')
  if (mayBeRenamed && (file?.state === 'hidden' || (!file && isFolder)))
    return { state: 'unknown', reason: renamed, since: null }
  if (!file) {
    const reason =
      whatBecame(history) ??
      (gone ? because('images_of_gone_folder', gone) : because(isFolder ? 'folder_is_gone' : 'nothing_known'))
    return { state: 'absent', reason, since: null }
  }
  const last = history.findLast(({ event }) => event === 'left_out')?.detail
  const isInDoubt = file.state === 'hidden' && last != null && codeOf(last) === 'perhaps_renamed'
  const isKnownGone = file.state === 'gone' || file.state === 'kept'
  return {
    state: isInDoubt ? 'unknown' : file.state,
    reason: reasonOf(file, recorded),
    since: isKnownGone ? null : mayBeRenamed ? renamed : because('gone'),
  }
}

/** For the planner, which is asked about one file alone. */
const NO_OTHERS = { files: [], aside: [], ignored: [], problems: [] }
const KEEP = { deletions: 'keep', prunes: () => false } as const

interface PathFacts {
  state: PathState
  /** Whether the file has changed since the last scan. */
  isChanged: boolean
  /** The absolute path. */
  full: string
  guard: Reason | null
}

function outlookOf(context: OutlookContext, known: Known, facts: PathFacts): NextStep[] {
  const { mirror, path, recorded, gone, renamed } = known
  const { file, isFolder, escrow } = recorded
  const { full, guard } = facts
  const steps: NextStep[] = []
  if (renamed !== null && (file !== undefined || isFolder))
    steps.push(next(because('rename_first', { name: fullPath(mirror.folder, renamed) })))
  steps.push(...outlookOfState(context, known, facts))
  if (guard !== null) steps.push(next(guard))
  steps.push(...escrow.flatMap(entry => deletionOutlook(context, entry, full)))
  if (!gone) return steps
  const row = context.synced.mirrors.of(mirror.folder)!
  const first = context.synced.escrow.nextBelow(row.id, path)
  return [...steps, ...goneFolderOutlook(context, gone, first, full)]
}

function outlookOfState(
  context: OutlookContext,
  { found, recorded: { file, image, failure } }: Known,
  { state, isChanged, full }: PathFacts,
): NextStep[] {
  switch (state) {
    case 'pending':
    case 'unseen': {
      const changed = found.kind === 'picture' ? found.look.ctime / 1000 : null
      return uploadOutlook(context, { changed, since: file?.since ?? null })
    }
    case 'failed':
    case 'uncertain':
      return failureOutlook(context, state, failure?.next_attempt_at ?? null, full)
    case 'linked':
      return [next(because('link_compared'), 'albumd adopt --verify')]
    case 'kept':
      return [next(because('kept_until_back'))]
    case 'hidden':
    case 'left_out': {
      if (found.kind !== 'left_out') return [next(because('looked_at_again'))]
      const ignored = found.why === 'ignored'
      const command = ignored && image ? 'albumd sync --prune-ignored' : null
      return [next(because('stays_out', { image: image !== undefined, ignored }), command)]
    }
    case 'synced':
      if (!isChanged || found.kind !== 'picture') return []
      return [haltOrNobody(context) ?? next(because('looked_at_again'))]
    default:
      return []
  }
}

function imageOf(synced: Synced, image: ImageRow): PathImage {
  const { remote_id, cdn_url, album, name, size, recorded_at, proof } = image
  const at = albumName(synced, album)
  return { image_id: remote_id, cdn_url, album: at, name, size, recorded_at: isoTime(recorded_at), proof }
}

/** The host's id of the album at a path, or null when no album is recorded there. */
function albumIdOf({ albums }: Synced, path: readonly string[]): string | null {
  let at: { id: number; remote_id: string } | undefined
  for (const name of path) {
    at = albums.named(at?.id ?? null, name)
    if (!at) return null
  }
  return at?.remote_id ?? null
}
