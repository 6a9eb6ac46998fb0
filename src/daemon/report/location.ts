import { basename, dirname, join, normalize, resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { type DiskEntry, realDisk } from '../../local/disk.ts'
import { type MirrorLocation, wasFolder } from '../../sync/outlook/index.ts'
import { folderAbove, foldersAbove, fullPath, isAtOrBelow, nameOf, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { orNull } from '../or-null.ts'

/**
 * The locations that a path from a command line may mean: absolute, below a mirror's folder, or below the working folder.
 * Several when several mirrors know the path, none when the path lies in no mirror. Without a path: all mirrors.
 */
export function locationsOf(config: Config, synced: Synced, given: string | undefined): MirrorLocation[] {
  if (given === undefined) return config.mirrors.map(mirror => ({ mirror, path: '' }))
  const isKnown = (at: MirrorLocation) => isOnDisk(at) || isRecorded(synced, at) || namesMeant(at).length > 0
  return candidates(config.mirrors, normalize(given).replace(/(?<=.)\/$/, ''), isKnown).flatMap(at => {
    const meant = namesMeant(at)
    return meant.length > 0 ? meant : [at]
  })
}

function candidates(
  mirrors: Config['mirrors'],
  given: string,
  isKnown: (at: MirrorLocation) => boolean,
): MirrorLocation[] {
  const below = given.startsWith('/') ? [] : mirrors.map(mirror => ({ mirror, path: given }))
  const known = below.filter(isKnown)
  if (known.length > 0) return known
  // When no mirror knows the path, it is taken as a shell would take it: relative to the working folder.
  const here = inMirror(mirrors, resolve(given)) ?? inMirror(mirrors, behindLinks(resolve(given)))
  if (here) return [here]
  return below.length === 1 ? below : []
}

function inMirror(mirrors: Config['mirrors'], path: string): MirrorLocation | null {
  const mirror = mirrors.find(({ folder }) => isAtOrBelow(path, folder))
  return mirror ? { mirror, path: path.slice(mirror.folder.length + 1) } : null
}

/** The path with the real names of the folders above. The last part may itself be a link that a person asks about. */
function behindLinks(path: string): string {
  return join(realPathOf(dirname(path)), basename(path))
}

/**
 * A shell passes the bytes of a name that is not UTF-8, and Node turns them into U+FFFD. Answers the entries of the disk that
 * may be meant, with their names written as \xNN. Nothing below a folder with such a name is found.
 */
function namesMeant({ mirror, path }: MirrorLocation): MirrorLocation[] {
  for (const at of [...foldersAbove(path), path]) {
    if (!nameOf(at).includes('\ufffd') || isOnDisk({ mirror, path: at })) continue
    const given = nameOf(at).replace(/\ufffd+/g, '\ufffd')
    const above = folderAbove(at)
    const isMeant = ({ name, validUtf8 }: DiskEntry) =>
      !validUtf8 && name.replace(/(?:\\x[0-9a-f]{2})+/g, '\ufffd') === given
    const entries = orNull(() => realDisk.readFolder(fullPath(mirror.folder, above))) ?? []
    return entries.filter(isMeant).map(({ name }) => ({ mirror, path: pathOf(above, name) }))
  }
  return []
}

/** Whether anything is on the disk at a location. */
export function isOnDisk({ mirror, path }: MirrorLocation): boolean {
  return orNull(() => realDisk.lstat(fullPath(mirror.folder, path))) !== null
}

function isRecorded(synced: Synced, { mirror, path }: MirrorLocation): boolean {
  const row = synced.mirrors.of(mirror.folder)
  if (!row) return false
  const above = synced.folders.at(row.id, folderAbove(path))
  return (
    (above !== undefined && synced.files.at({ folder: above.id, name: nameOf(path) }) !== undefined) ||
    synced.folders.at(row.id, path) !== undefined ||
    wasFolder(synced, row.id, path) ||
    synced.history.last({ mirror: row.id, path }) !== undefined
  )
}
