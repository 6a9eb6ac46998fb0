import { basename, dirname, join, resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { isAtOrBelow } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'

export type Mirror = Config['mirrors'][number]

/** A path below a mirror's folder; '' is the folder itself. */
export interface PlaceInMirror {
  mirror: Mirror
  path: string
}

/**
 * The places that a path may mean: absolute, below a mirror's folder, or below the working folder. `isKnown` tells
 * whether anything is there or recorded: of several mirrors those count that know it.
 */
export function placesOf(
  { mirrors }: Pick<Config, 'mirrors'>,
  given: string,
  isKnown: (place: PlaceInMirror) => boolean,
): PlaceInMirror[] {
  const absolute = given.startsWith('/')
  const below = absolute ? [] : mirrors.map(mirror => ({ mirror, path: given }))
  const known = below.filter(isKnown)
  if (known.length > 0) return known
  const here = inMirror(mirrors, resolve(given)) ?? inMirror(mirrors, behindLinks(resolve(given)))
  // Of what nobody knows, the place that a shell would mean.
  if (here) return [here]
  return below.length === 1 ? below : []
}

function inMirror(mirrors: readonly Mirror[], path: string): PlaceInMirror | null {
  const mirror = mirrors.find(({ folder }) => isAtOrBelow(path, folder))
  return mirror ? { mirror, path: path.slice(mirror.folder.length + 1) } : null
}

/** The folders above by their real names: what a link itself is, a person may want to know. */
function behindLinks(path: string): string {
  return join(realPathOf(dirname(path)), basename(path))
}

/** Whether the records have images of pictures below a path that were given up, or are to be. */
export function wasFolder({ summaries }: Synced, mirror: number, path: string): boolean {
  return Object.values(summaries.goneBelow(mirror, path)).some(n => n > 0)
}

/** Whether the records have anything of a place. */
export function isRecorded(synced: Synced, { mirror, path }: PlaceInMirror): boolean {
  const row = synced.mirrors.of(mirror.folder)
  if (!row) return false
  const slash = path.lastIndexOf('/')
  const folder = synced.folders.at(row.id, path.slice(0, Math.max(0, slash)))
  return (
    (folder !== undefined &&
      synced.files.at({ folder: folder.id, name: path.slice(slash + 1) }) !== undefined) ||
    synced.folders.at(row.id, path) !== undefined ||
    wasFolder(synced, row.id, path) ||
    synced.history.last({ mirror: row.id, path }) !== null
  )
}
