import { basename, dirname, join, normalize, resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import type { Millis } from '../../protocol/clock.ts'
import { movedTo } from '../../records/moves.ts'
import { locationOf as placeOf } from '../../records/versions.ts'
import { albumName } from '../../sync/album.ts'
import { deliveryAddresses, idIn } from '../../sync/listing/index.ts'
import { lookAt, type MirrorLocation } from '../../sync/scan/index.ts'
import { fileAt, folderAbove, fullPath, isAtOrBelow, nameOf, pathOf } from '../../sync/tree-path.ts'
import type { Records, Synced } from '../../synced/synced.ts'
import type { FileAtPath, FileRow, FileState } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { orNull } from '../or-null.ts'

/** The locations that a path from a command line may mean: absolute, below a mirror's folder, or below the working folder. There
 * are none when it lies in no mirror. Without a path, all mirrors are meant. */
export function locationsOf(config: Config, synced: Synced, given: string | undefined): MirrorLocation[] {
  if (given === undefined) return config.mirrors.map(mirror => ({ mirror, path: '' }))
  const isKnown = (at: MirrorLocation) => isKnownAt(synced, at) || nameMeant(at) !== null
  return candidates(config.mirrors, normalize(given).replace(/(?<=.)\/$/, ''), isKnown).map(at =>
    isKnownAt(synced, at) ? at : (nameMeant(at) ?? at),
  )
}

function candidates(
  mirrors: Config['mirrors'],
  given: string,
  isKnown: (at: MirrorLocation) => boolean,
): MirrorLocation[] {
  const below = given.startsWith('/') ? [] : mirrors.map(mirror => ({ mirror, path: given }))
  const known = below.filter(isKnown)
  if (known.length > 0) return known
  // When no mirror knows the path, the path is relative to the working folder, as in a shell.
  const here = inMirror(mirrors, resolve(given)) ?? inMirror(mirrors, behindLinks(resolve(given)))
  if (here) return [here]
  return below.length === 1 ? below : []
}

function inMirror(mirrors: Config['mirrors'], path: string): MirrorLocation | null {
  const mirror = mirrors.find(({ folder }) => isAtOrBelow(path, folder))
  return mirror ? { mirror, path: path.slice(mirror.folder.length + 1) } : null
}

/** The path with the real names of the folders above. A link in the last part stays, because a person may mean the link. */
function behindLinks(path: string): string {
  return join(realPathOf(dirname(path)), basename(path))
}

/** The location of what lies there under a name that is spelled otherwise. Null: nothing, or several. */
function nameMeant({ mirror, path }: MirrorLocation): MirrorLocation | null {
  let above = ''
  for (const name of path.split('/')) {
    const at = pathOf(above, name)
    if (isOnDisk({ mirror, path: at })) {
      above = at
      continue
    }
    const entries = orNull(() => realDisk.readFolder(fullPath(mirror.folder, above))) ?? []
    const [only, another] = entries.filter(entry => spelling(entry.name) === spelling(name))
    if (!only || another) return null
    above = pathOf(above, only.name)
  }
  return above === path ? null : { mirror, path: above }
}

/** What all spellings of a name share. A Mac writes "ü" as two characters. Bytes that are not UTF-8 come from a shell as one
 * character each, and the records write them as \xNN. */
function spelling(name: string): string {
  return name.normalize().replace(/(?:\\x[0-9a-f]{2}|\u{FFFD})+/gu, '\u{FFFD}')
}

type Location = { mirror: { folder: string }; path: string }

function isOnDisk({ mirror, path }: Location): boolean {
  return orNull(() => realDisk.lstat(fullPath(mirror.folder, path))) !== null
}

/** Whether anything is or was at a location. Disk and records tell. */
export function isKnownAt(synced: Synced, location: MirrorLocation): boolean {
  // Only `lookAt` tells what can't be looked at from what is not there.
  return isOnDisk(location) || isRecorded(synced, location) || lookAt(realDisk, location).kind !== 'absent'
}

function isRecorded(synced: Synced, { mirror, path }: MirrorLocation): boolean {
  const row = synced.mirrors.of(mirror.folder)
  if (!row) return false
  const above = synced.folders.at(row.id, folderAbove(path))
  return (
    fileAt(synced, row.id, path) !== undefined ||
    isFolder(synced, row.id, path) ||
    (above && synced.failures.of(above.id, nameOf(path))) !== undefined ||
    synced.history.last({ mirror: row.id, path }) !== undefined
  )
}

/** Whether a path is or was a folder, as the records tell. */
export function isFolder(synced: Synced, mirror: number, path: string): boolean {
  if (path === '' || synced.folders.at(mirror, path) !== undefined) return true
  return Object.values(synced.summaries.goneBelow({ mirror, path })).some(n => n > 0)
}

/** The state as people see it: a file that is tried again stays failed until the try ends, as in the summaries. */
export function shownState({ failures }: Records, file: FileRow): FileState {
  return file.state === 'pending' && failures.ofUpload(file) ? 'failed' : file.state
}

export interface MirroredPicture {
  mirror: string
  path: string
  name: string
  /** gone_on_host: the picture would be synced or linked, but an audit found its image gone from the host. */
  state: FileState | 'gone_on_host'
  /** The image holds an earlier version of the picture. The file as it is now is not on the host. */
  older: boolean
  /** The image lies in another album than the picture's own, which could not be had. */
  flat: boolean
  /** The album's path on the host; '' is the root. */
  album: string
  image: ImageRow
  /** The SHA-256 of the picture's file. Null: not known, because the image was made from a file. */
  sha256: string | null
  /** Null: not known. An address that the host has not told is built: see sync/listing/delivery.ts. */
  url: string | null
}

export function mirroredPictures(
  synced: Synced,
): (mirror: string, file: FileAtPath) => MirroredPicture | null {
  const addressOf = deliveryAddresses(synced)
  const gone = new Set(synced.audit.gone())
  // The album that was looked up last, because the next file is mostly in the same album.
  let album: { id: number | null; name: string } | null = null
  return (mirror, file) => {
    const { image: id, path, name, flat, hash } = file
    const image = id === null ? undefined : synced.images.byId(id)
    if (!image) return null
    if (album === null || album.id !== image.album)
      album = { id: image.album, name: albumName(synced, image.album) }
    const state = shownState(synced, file)
    const isAsSent = state === 'linked' || state === 'synced'
    const older = !isAsSent && !synced.images.isOf(image, hash)
    const url = image.cdn_url ?? addressOf(image.remote_id, image.name)
    return {
      mirror,
      path,
      name,
      state: isAsSent && gone.has(image.remote_id) ? 'gone_on_host' : state,
      older,
      flat: flat > 0,
      album: album.name,
      image,
      sha256: synced.images.isMade(image) ? null : image.hash.toString('hex'),
      url,
    }
  }
}

/** What is recorded at a location. `picture`: null when the picture has no image that stays. */
export type Recorded =
  | { kind: 'picture'; picture: MirroredPicture | null }
  | { kind: 'folder'; pictures: Iterable<MirroredPicture> }
  | { kind: 'nothing' }

/** What is recorded at a location. Pictures come in the order of their paths, without those that are gone from the disk. */
export function recordedAt(synced: Synced, location: Location): Recorded {
  const { mirror, path } = location
  const row = synced.mirrors.of(mirror.folder)
  if (!row) return path === '' ? { kind: 'folder', pictures: [] } : { kind: 'nothing' }
  const pictureOf = mirroredPictures(synced)
  const file = fileAt(synced, row.id, path)
  function* below() {
    for (const file of synced.files.below(row!.id, path)) {
      const picture = file.state === 'gone' ? null : pictureOf(mirror.folder, file)
      if (picture) yield picture
    }
  }
  if (file && file.state !== 'gone')
    return { kind: 'picture', picture: pictureOf(mirror.folder, { ...file, path }) }
  // A folder may have the path of a picture that is gone.
  if (isFolder(synced, row.id, path)) return { kind: 'folder', pictures: below() }
  return file ? { kind: 'picture', picture: null } : { kind: 'nothing' }
}

export function picturesOf(recorded: Recorded): Iterable<MirroredPicture> {
  if (recorded.kind === 'folder') return recorded.pictures
  return recorded.kind === 'picture' && recorded.picture ? [recorded.picture] : []
}

export interface LatestPicture {
  image: number
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  /** The album that its image is in, slash-separated; '' is the root. */
  album: string
  cdn_url: string
  /** Bytes. */
  size: number
  at: Millis
}

export function latestPictures(config: Config, synced: Synced, most: number): LatestPicture[] {
  const latest = synced.images.acknowledged(most * 4).flatMap(({ remote_id }) => {
    const image = synced.images.byRemoteId(remote_id)
    const location = image && locationOf(config, synced, image.id)
    if (!location || image.cdn_url === null) return []
    const { id, cdn_url, size, recorded_at: at } = image
    return [{ image: id, ...location, album: albumName(synced, image.album), cdn_url, size, at }]
  })
  return latest.slice(0, most)
}

/** The location of a file that uses the image and was on the disk at the last scan. Null: there is none. */
export function locationOf(
  config: Config,
  synced: Synced,
  image: number,
): { mirror: string; path: string } | null {
  const mirrors = new Map(config.mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  for (const { folder, name, state } of synced.files.onImage(image)) {
    const row = synced.folders.byId(folder)
    const mirror = mirrors.get(row?.mirror)
    if (row && mirror !== undefined && IS_THERE.has(state)) return { mirror, path: pathOf(row.path, name) }
  }
  return null
}

/** The whole path of the picture whose image has this id or delivery address, also of an image that was kept for an older version.
 * Null: there is none. `follows`: of a picture that moved, the path where it lies now. */
export function pathOfImage(synced: Synced, named: string, follows = false): string | null {
  const { escrow, files, images, mirrors, versions } = synced
  const isAddress = URL.canParse(named)
  const id = isAddress ? idIn(synced, named) : named
  const image = (isAddress && images.byAddress(named)) || (id !== null && images.byRemoteId(id))
  if (!image) return null
  const [file] = files.onImage(image.id)
  const moved = follows ? movedTo(synced, image) : null
  const place = moved ?? escrow.of(image.id) ?? (file ? placeOf(synced, file) : versions.latestOf(image.hash))
  return place ? fullPath(mirrors.byId(place.mirror)!.folder, place.path) : null
}

const IS_THERE: ReadonlySet<string> = new Set(['synced', 'pending', 'linked', 'uncertain', 'failed'])
