import type { Synced } from '../synced/synced.ts'
import type { FileRow } from '../synced/tables/files.ts'

/** Paths below a mirror's root. Names are separated by slashes, and '' is the root itself. */

export function pathOf(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** The absolute path of a path below `root`, a mirror's folder. */
export function fullPath(root: string, path: string): string {
  return path === '' ? root : `${root}/${path}`
}

export function isBelow(path: string, folder: string): boolean {
  return folder === '' ? path !== '' : path.startsWith(`${folder}/`)
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || isBelow(path, folder)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The folder that holds `path`; for the root, the root itself. */
export function folderAbove(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** All folders above `path`, outermost first, beginning with the root. */
export function* foldersAbove(path: string): Generator<string> {
  if (path !== '') yield ''
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    yield path.slice(0, slash)
}

/** The record of the file at `path` in a mirror, if there is one. */
export function fileAt({ folders, files }: Synced, mirror: number, path: string): FileRow | undefined {
  const folder = path === '' ? undefined : folders.at(mirror, folderAbove(path))
  return folder && files.at({ folder: folder.id, name: nameOf(path) })
}
