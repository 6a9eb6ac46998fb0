import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { EXIT } from './exit-codes.ts'
import { Problem } from './words/problem.ts'

/** A path as the state has it: below a mirror's folder, or absolute. An empty one is a variable that was not set. */
export function pathArgument(path: string | undefined): string | undefined {
  if (path === '') throw new Problem(EXIT.usage, 'the path is empty; leave it out to mean everything.')
  return path !== undefined && /^\.\.?(\/|$)/.test(path) ? resolve(path) : path?.replace(/\/+$/, '')
}

/**
 * The same for a command that acts on what is recorded: a path is what `why` and `ls` take it for, below the working
 * folder too. Where several mirrors know it, all of them are meant.
 */
export async function pathToActOn(config: Config, path: string | undefined): Promise<string | undefined> {
  const given = pathArgument(path)
  if (given === undefined || given.startsWith('/')) return given
  const { readState } = await import('../daemon/state/state.ts')
  const { locationsOf } = await import('../daemon/why/location.ts')
  const { fullPath } = await import('../sync/tree-path.ts')
  const places = readState(config, synced => locationsOf(config, synced, given))
  const [place] = places
  const isElsewhere = place !== undefined && places.length === 1 && place.path !== given
  return isElsewhere ? fullPath(place.mirror.folder, place.path) : given
}
