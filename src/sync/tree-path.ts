/** Paths below a mirror's root: with slashes, '' is the root itself. */

export function pathOf(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** Of a path below `root`, which is a mirror's folder. */
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

/** Of the root, the root. */
export function folderAbove(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Outermost first, the root included, itself left out. */
export function* foldersAbove(path: string): Generator<string> {
  if (path !== '') yield ''
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    yield path.slice(0, slash)
}
