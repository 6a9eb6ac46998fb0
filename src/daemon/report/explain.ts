import { keyRemedy } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { type Disk, realDisk } from '../../local/disk.ts'
import type { Millis } from '../../protocol/clock.ts'
import { OTHER_ACCOUNT } from '../../remote/failures.ts'
import { albumName, albumPathOf, recordedAlbums } from '../../sync/album.ts'
import { deliveryAddresses } from '../../sync/listing/index.ts'
import {
  type LeftOutWhy,
  lookAt,
  type MirrorLocation,
  type OnDisk,
  type RuleInFile,
} from '../../sync/scan/index.ts'
import { folderAbove, fullPath, nameOf } from '../../sync/tree-path.ts'
import { stateIsLocked } from '../../synced/lock.ts'
import type { GoneSummary, TreeSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { HistoryEvent } from '../../synced/tables/history.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, inWords, type Reason, reasonIn } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { stateFiles } from '../state/claim.ts'
import { readState } from '../state/state.ts'
import { locationsOf } from './mirrored-pictures.ts'
import { nextSteps } from './next-steps.ts'
import { type PathState, type Recorded, recordsOf, stateOf } from './path-state.ts'
import { type ShownStep, showStep, stepInWords } from './step.ts'
import { doubtOf, type WaitContext } from './waits.ts'

export interface PathImage {
  image_id: string
  cdn_url: string | null
  /** The album on the host, with slashes; '' is the root. */
  album: string
  name: string
  size: number
  recorded_at: string
  proof: ImageRow['proof']
}

export interface PathDeletion extends PathImage, Pick<EscrowRow, 'reason' | 'state'> {
  since: string
}

/** An event in the history of a picture. */
export interface PathEvent {
  /** ISO 8601. */
  at: string
  event: HistoryEvent
  detail: string | null
}

/** What is known of a path, as `why --json` shows it. Times are ISO 8601. */
export interface Explanation {
  path: string
  mirror: string
  state: PathState
  /** Why the path is in that state. */
  reason: string
  /** Why the picture does not come to the host, as a code for programs. MOVED: it moved away. GONE: it is gone. LEFT_OUT: it is
   * not mirrored. NOT_READY: it is still empty. Null: for none of these reasons. */
  cause: string | null
  /** The album to which the picture belongs, with slashes; '' is the root. `id`: null when the album is not recorded. */
  album: { path: string; id: string | null }
  /** The picture on the disk; null when none lies there. */
  file: { size: number; modified_at: string } | null
  /** SHA-256 of the version that was read last. Null: none was read, or the image was made from it. */
  sha256: string | null
  /** The image that the file uses. While the file is not synced, it is the image of an earlier version. */
  image: PathImage | null
  deletions: PathDeletion[]
  /** The images of earlier versions that stay on the host for good. Their addresses still show these versions. */
  kept: PathImage[]
  /** Why the mirror is guarded, or null. */
  guard: string | null
  failure: {
    code: string
    message: string
    attempts: number
    next_attempt_at: string | null
  } | null
  left_out: { why: LeftOutWhy; path: string; rule: RuleInFile | null } | null
  /** What a folder holds; null for a picture. */
  counts: TreeSummary | null
  /** What became of the pictures of a folder that is gone and of their images, or null. */
  gone: GoneSummary | null
  next: ShownStep[]
  history: PathEvent[]
}

export interface ExplainContext extends WaitContext {
  disk: Disk
}

/** What is known of a path. `path`: absolute, below a mirror's folder, or below the working folder. Returns one entry for each
 * mirror that knows the path, and none when it lies in no mirror. Reads state and disk. */
export function explainPath(config: Config, path: string, now: Millis): Explanation[] {
  const running = stateIsLocked(stateFiles(config.state_dir).lock)
  return readState(config, synced =>
    locationsOf(config, synced, path).map(location =>
      explain({ config, synced, disk: realDisk, running, now }, location),
    ),
  )
}

export function explain(context: ExplainContext, location: MirrorLocation): Explanation {
  const { config, synced, disk, running } = context
  const { mirror, path } = location
  const row = synced.mirrors.of(mirror.folder)
  const onDisk = lookAt(disk, location)
  const recorded = recordsOf(synced, row, path)
  const { counts, gone } = folderOf(synced, row, path, onDisk, recorded)
  const doubt = row ? doubtOf(synced, row, path) : null
  const [state, reason] = doubt
    ? [recorded.file?.state ?? ('unknown' as const), doubt]
    : stateOf(onDisk, recorded, gone, mirror.deletions)
  const next = nextSteps(context, {
    location,
    row,
    onDisk,
    recorded,
    state,
    reason,
    isInDoubt: doubt !== null,
    gone,
  })
  const { file, image, escrow, failure, history } = recorded
  const isFolder =
    onDisk.kind === 'folder' ||
    counts !== null ||
    (onDisk.kind === 'unknown' && (onDisk.isFolder || recorded.isFolder))
  const album = albumPathOf(mirror.album, isFolder ? path : folderAbove(path))
  return {
    path: fullPath(mirror.folder, path),
    mirror: mirror.folder,
    state,
    reason: inWords(reason),
    cause: causeOfState(state, reason, onDisk),
    album: { path: album.join('/'), id: recordedAlbums(synced, album).at(-1)?.remote_id ?? null },
    file:
      onDisk.kind === 'picture'
        ? { size: onDisk.look.size, modified_at: isoTime(onDisk.look.mtime / 1000) }
        : null,
    // Of what was made from a file, the hash that is recorded is not the file's.
    sha256: (image && synced.images.isMade(image) ? null : file?.hash?.toString('hex')) ?? null,
    image: image ? showImage(synced, image) : null,
    deletions: escrow.map(({ image: id, reason, state, since }) => ({
      ...showImage(synced, synced.images.byId(id)!),
      reason,
      state,
      since: isoTime(since),
    })),
    kept: keptImages(synced, { mirror, path }).map(kept => showImage(synced, kept)),
    guard: row?.guard == null ? null : inWords(row.guard),
    failure: failure
      ? {
          code: failure.code,
          message: inWords(failure.message),
          attempts: failure.attempts,
          next_attempt_at: isoTime(failure.next_attempt_at),
        }
      : null,
    left_out:
      onDisk.kind === 'left_out'
        ? { why: onDisk.why, path: fullPath(mirror.folder, onDisk.at), rule: onDisk.rule }
        : null,
    counts,
    gone,
    next: next.map(showStep).map(shown => withKeyFile(shown, config, running)),
    history: history.map(({ at, event, detail }) => {
      return { at: isoTime(at), event, detail: detail && inWords(detail) }
    }),
  }
}

function folderOf(
  synced: Synced,
  row: MirrorRow | undefined,
  path: string,
  onDisk: OnDisk,
  { file, isFolder }: Recorded,
): { counts: TreeSummary | null; gone: GoneSummary | null } {
  const isGone = onDisk.kind === 'absent' && !file && isFolder
  const isUnread = onDisk.kind === 'unknown' && isFolder
  if (!row || (onDisk.kind !== 'folder' && !isUnread && !isGone)) return { counts: null, gone: null }
  const counts = synced.summaries.below(row.id, path)
  const { gone: _gone, kept: _kept, hidden: _hidden, ...others } = counts.states
  // Until a scan has found the folder gone, some of its pictures are recorded in other states than gone, kept and hidden.
  const isFound = isGone && Object.keys(others).length === 0
  return { counts, gone: isFound ? synced.summaries.goneBelow({ mirror: row.id, path }) : null }
}

/** Adds where the key is to a step that says that the host refuses it, because a person must replace it there. */
function withKeyFile(shown: ShownStep, config: Config, running: boolean): ShownStep {
  if (shown.code !== 'key_refused' || shown.cause === OTHER_ACCOUNT) return shown
  return { ...shown, what: `${shown.what}; ${keyRemedy(config, running ? null : process.env)}` }
}

function causeOfState(state: PathState, reason: Reason, onDisk: OnDisk): string | null {
  if (reasonIn(reason, 'picture_moved')) return 'MOVED'
  if (state === 'gone' || onDisk.kind === 'absent') return 'GONE'
  if (onDisk.kind !== 'left_out') return null
  return onDisk.why === 'empty' ? 'NOT_READY' : 'LEFT_OUT'
}

export function whyNotThere({ failure, state, reason, cause, next, guard, path }: Explanation): {
  code: string
  reason: string
} {
  if (failure && (state === 'failed' || state === 'uncertain'))
    return { code: failure.code, reason: failure.message }
  if (state === 'uncertain') return { code: 'UNCERTAIN', reason }
  if (state === 'gone_on_host')
    return { code: 'GONE_ON_HOST', reason: inWords(because('gone_on_host', { pictures: 1 })) }
  const [first] = next
  if (guard !== null && (state === 'unknown' || first?.code === 'root_in_doubt'))
    return { code: 'GUARDED', reason: guard }
  if (cause !== null) return { code: cause, reason }
  if (!first) return { code: 'WAITS', reason: inWords(because('not_there_yet', { path })) }
  return { code: first.cause ?? 'WAITS', reason: stepInWords(first) }
}

export function keptImages(
  { mirrors, versions, images, files }: Synced,
  { mirror, path }: { mirror: { folder: string }; path: string },
): ImageRow[] {
  const row = mirrors.of(mirror.folder)
  const hashes = row ? versions.hashesAt({ mirror: row.id, path }) : []
  // An image of equal bytes may be another picture's. Its name or a file that uses it shows that.
  return hashes
    .flatMap(hash => images.byHash(hash))
    .filter(({ id, kept, name }) => kept === 1 && name === nameOf(path) && files.onImage(id).length === 0)
}

function showImage(synced: Synced, image: ImageRow): PathImage {
  const { remote_id, cdn_url, album, name, size, recorded_at, proof } = image
  return {
    image_id: remote_id,
    cdn_url: cdn_url ?? deliveryAddresses(synced)(remote_id, name),
    album: albumName(synced, album),
    name,
    size,
    recorded_at: isoTime(recorded_at),
    proof,
  }
}
