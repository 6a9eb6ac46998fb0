import { isBelow } from '../../sync/tree-path.ts'

/**
 * Whether the path below a mirror's `folder` is `wanted` or lies below it. `wanted` is absolute or below the folder;
 * left out, everything is meant.
 */
export function isAtOrBelow(folder: string, path: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  const full = path === '' ? folder : `${folder}/${path}`
  return [path, full].some(candidate => candidate === wanted || isBelow(candidate, wanted))
}
