import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { isSameLook } from '../../local/look.ts'
import type { Millis } from '../../protocol/clock.ts'
import { ledgerTime, wallTime } from '../../records/ledger-time.ts'
import {
  firstRecorded,
  isAtPath,
  type PastVersion,
  restorableSince,
  versionAt,
} from '../../records/versions.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { checkRoot, isAnotherDisk, isMount, isSameRoot } from '../../sync/scan/index.ts'
import { fileAt, foldersAbove, fullPath, isAtOrBelow, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { Location } from '../../synced/tables/history.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, inWords, type Reason } from '../../words/reasons.ts'
import { isoTime, localTime, localTimeFrom } from '../../words/text.ts'
import { NotPossible } from '../commands/command.ts'
import { stateFiles } from '../state/claim.ts'
import { type RecordsGap, recordsGaps } from '../state/records.ts'
import { reading } from '../state/state.ts'
import {
  foldersFor,
  nothingRecorded,
  type RestoreRequest,
  recordedPictures,
  unknownTo,
  type WantedPicture,
  WITHOUT_RECORDS,
} from './from-records.ts'
import { fillFolder, type RestoreEvent, type RestoreReport } from './restore.ts'
import { begunMoment, refuseTarget, type TargetFolder } from './target-folder.ts'

/** A restore of an earlier time. When the folder lies in a mirror, only this mirror is restored. */
export interface MomentRequest extends Omit<RestoreRequest, 'deleted'> {
  at: { given: string; moment: number }
}

/** A folder that is or lies in a mirror: the mirror's folder, and the path below it. */
export interface PlaceInMirror {
  mirror: string
  path: string
}

export function placeInMirror({ mirrors }: Config, folder: string): PlaceInMirror | null {
  const real = realPathOf(resolve(folder))
  const mirror = mirrors.find(mirror => isAtOrBelow(real, mirror.folder))
  return mirror ? { mirror: mirror.folder, path: real.slice(mirror.folder.length + 1) } : null
}

/** Brings back pictures as they were recorded at an earlier time, as far as the host holds their bytes. Works in a mirror or an
 * empty folder elsewhere. In a mirror, later pictures stay, and files that differ are put aside. Needs no API key, and may run
 * beside a daemon. Throws NotPossible, LockedError and StateError. */
export function restoreMoment(
  config: Config,
  { folder, mirrors, at, ca, recordGiven }: MomentRequest,
  emit: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  return reading(config, async synced => {
    const wanted = await wantedThen(config, synced, { folder, mirrors, at })
    const { place, rows, ids } = wanted
    let { moment } = wanted
    const folders = foldersFor(wanted.mirrors)
    function* pictures(): Generator<WantedPicture> {
      const top = place?.path ?? ''
      for (const { file, ...found } of versionsAt(synced, rows, top, moment)) {
        const { mirror, path, version } = found
        const to = place ? path.slice(top === '' ? 0 : top.length + 1) : pathOf(folders.get(mirror)!, path)
        const isThere = () => isUnchanged(synced, fullPath(mirror, path), file!, version)
        yield { ...found, to, image: file?.image ?? null, ...(place && file && { isThere }) }
      }
    }
    const open = async (target: TargetFolder) => {
      moment = await target.moment(at.moment)
      return recordedPictures(synced, pictures, { code: 'NOT_FOUND', message: 'no longer on the host' })
    }
    const report = await fillFolder(
      config,
      {
        folder,
        mirrors: wanted.mirrors,
        at: at.given,
        place: place && { ...place, was: whatWas(synced, rows, place.path, moment) },
        ca,
        recordGiven,
      },
      open,
      emit,
      interruption,
    )
    return {
      ...report,
      ...unknownTo(config, synced),
      ...(place && { later: cameLater(synced, rows, place.path, moment) }),
      at: isoTime(moment),
      went_on: moment !== at.moment,
      restorable_since: isoTime(restorableSince(synced, ids)),
      gap: gapAt(config, synced, moment),
    }
  })
}

/** What a request means by the records. Throws NotPossible for a folder or a time of which nothing can be restored. */
async function wantedThen(
  config: Config,
  synced: Synced,
  { folder, mirrors, at }: Pick<MomentRequest, 'folder' | 'mirrors' | 'at'>,
) {
  const place = placeInMirror(config, folder)
  if (!place) refuseLinkOut(config, resolve(folder))
  const request = { folder, mirrors: place ? [place.mirror] : mirrors, at: at.given }
  const rows = request.mirrors.flatMap(mirror => synced.mirrors.of(mirror) ?? [])
  const first = firstRecorded(synced)
  const [row] = rows
  if (!row || first === null) throw nothingRecorded(config, request.mirrors)
  // A wrong folder is refused first, whatever the time is.
  if (place) refuseDoubt(synced, row, place)
  else await refuseTarget(config, request)
  const moment = (await begunMoment(config, request)) ?? at.moment
  refuseUnknown(synced, first, moment)
  return { place, mirrors: request.mirrors, rows, ids: rows.map(({ id }) => id), moment }
}

/** Throws NotPossible where a link leads out of the mirror in which the path lies. Otherwise the folder would
 * count as one outside of all mirrors, and get the pictures of all. */
function refuseLinkOut({ mirrors }: Config, path: string): void {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const named = join(realPathOf(dirname(at)), basename(at))
    const mirror = mirrors.find(({ folder }) => isAtOrBelow(named, folder))
    if (mirror)
      throw new NotPossible(
        `${path} lies in the mirror ${mirror.folder}, and a link leads out of it. Move the link away, or name an empty folder elsewhere`,
      )
  }
}

function gapAt({ state_dir }: Config, synced: Synced, moment: number): RecordsGap | null {
  const at = isoTime(moment)
  const isIn = ({ from, to }: RecordsGap) => at > from && (to === null || at < to)
  return recordsGaps(stateFiles(state_dir), synced).find(isIn) ?? null
}

/** How many recorded pictures at and below a folder came later than a time, and are on the disk. */
function cameLater(synced: Synced, rows: readonly MirrorRow[], top: string, moment: number): number {
  const at = ledgerTime(synced, moment)
  let later = 0
  for (const { id, folder: mirror } of rows)
    for (const file of synced.files.below(id, top)) {
      if (!isAtPath(file.state) || wasUnsent(synced, { mirror: id, path: file.path }, file, moment)) continue
      const full = fullPath(mirror, file.path)
      if (versionAt(synced, { mirror: id, path: file.path }, file, at) || !existsSync(full)) continue
      later++
    }
  return later
}

/** Whether a picture that never came to the host was on the disk at a time. A broken one is found anew with each change. */
function wasUnsent(synced: Synced, place: Location, { image, since }: FileRow, moment: Millis): boolean {
  if (image !== null) return false
  return Math.min(since ?? 0, ...synced.history.of(place).map(({ at }) => at)) <= moment
}

function refuseUnknown(synced: Synced, first: Millis, moment: number): void {
  if (first <= ledgerTime(synced, moment)) return
  const since = localTimeFrom(wallTime(synced, first))
  throw new NotPossible(`The records begin at ${since}, after ${localTime(moment)}. ${WITHOUT_RECORDS}`)
}

/** Throws where the mirror's folder may be another one by now, because the pictures would be written to another disk. */
function refuseDoubt(synced: Synced, row: MirrorRow, { path }: PlaceInMirror): void {
  const doubt = whyInDoubt(synced, row, path)
  if (doubt)
    throw new NotPossible(
      `Nothing is restored into a folder in doubt: ${inWords(doubt)}. Or name an empty folder elsewhere`,
    )
}

/** Why files written at a path below a mirror's folder may come to another disk, or be hidden later. Null: they will not. */
export function whyInDoubt(synced: Synced, row: MirrorRow, path: string): Reason | null {
  const root = checkRoot(realDisk, synced, row)
  const { dev, ino, birthtime } = row
  const isIt = dev !== null && isSameRoot(realDisk, row.folder, { dev, ino: ino!, birthtime: birthtime! })
  // A root that somebody emptied is in doubt too, although it is the same folder.
  if (!root.trusted && !isIt) return root.reason
  const mounts = synced.folders.mounts(row.id)
  const isMounted = (at: string) => isMount(realDisk, row.folder, at)
  const isNear = (mount: string) => isAtOrBelow(mount, path) || isAtOrBelow(path, mount)
  const lost = mounts.find(mount => isNear(mount) && !isMounted(mount))
  if (lost !== undefined) return because('mount_gone', { path: lost })
  // A mount that came after the last scan hides the pictures that are recorded below it.
  const hides = (mount: string) => {
    for (const _ of synced.files.below(row.id, mount)) return true
    return false
  }
  const below = [...mounts, ...[...realDisk.mountPoints(row.folder)].filter(hides)]
  const near = [...foldersAbove(path), path, ...below.filter(mount => isAtOrBelow(mount, path))]
  for (const at of near.filter(at => at !== '' && isMounted(at))) {
    const folder = synced.folders.at(row.id, at)
    if (!folder || folder.mount === 0) return because('mount_new', { path: at })
    if (isAnotherDisk(realDisk, synced, row, folder, realDisk.lstat(fullPath(row.folder, at))))
      return because('mount_other', { path: at })
  }
  return null
}

function isUnchanged({ images }: Synced, full: string, file: FileRow, { hash }: PastVersion): boolean {
  const isOfVersion = images.byHash(hash).some(({ id }) => id === file.image)
  if (file.state !== 'synced' || !isOfVersion) return false
  try {
    const there = realDisk.lstat(full)
    return there.kind === 'file' && isSameLook(file, there)
  } catch {
    return false
  }
}

interface Found {
  mirror: string
  path: string
  version: PastVersion
  file: FileRow | undefined
}

/** What the records know at a path: a folder in which pictures were at this time, or else a picture. Null: neither. */
function whatWas(
  synced: Synced,
  rows: readonly MirrorRow[],
  path: string,
  moment: number,
): 'folder' | 'picture' | null {
  for (const _ of versionsAt(synced, rows, path, moment)) return 'folder'
  const isPicture = ({ id: mirror }: MirrorRow) =>
    fileAt(synced, mirror, path) ?? versionAt(synced, { mirror, path }, undefined, ledgerTime(synced, moment))
  return rows.some(isPicture) ? 'picture' : null
}

/** What was at and below a folder of these mirrors at this time, by the wall clock. */
export function* versionsAt(
  synced: Synced,
  rows: readonly Pick<MirrorRow, 'id' | 'folder'>[],
  top: string,
  moment: Millis,
): Generator<Found> {
  const at = ledgerTime(synced, moment)
  for (const { id, folder: mirror } of rows) {
    for (const file of synced.files.below(id, top)) {
      const version = versionAt(synced, { mirror: id, path: file.path }, file, at)
      if (version) yield { mirror, path: file.path, version, file }
    }
    // The files without a record come too: it was removed when their image went from the host or was kept for good.
    for (const path of synced.versions.paths(id, top, at)) {
      const version = fileAt(synced, id, path) ? null : versionAt(synced, { mirror: id, path }, undefined, at)
      if (version) yield { mirror, path, version, file: undefined }
    }
  }
}
