import { ENDPOINTS } from '../protocol/endpoints.ts'
import { REQUESTS_PER_SECOND } from '../protocol/limits.ts'
import {
  defaultStateDir,
  holders,
  type NamedPath,
  overlaps,
  resolvePath,
  type Surroundings,
} from './paths.ts'
import { isLoopback } from './values.ts'
import { type Mistake, valueAt } from './wording.ts'

/**
 * Mistakes that concern several keys of a config. The values are read as written, so that a mistake in one key does not hide
 * mistakes in other keys. What the schema refuses is left to the schema.
 */
export function crossChecks(config: unknown, around: Surroundings): Mistake[] {
  return [
    ...tooManyRequests(config),
    ...homelessPaths(config, around),
    ...overlaps(textsOf(config, 'album'), '/'),
    ...overlaps(foldersOf(config, around)),
    ...misplacedState(config, around),
  ]
}

/** Rates above those of §8. A host on this machine may allow more. */
function tooManyRequests(config: unknown): Mistake[] {
  const written = valueAt(config, ['host', 'base_url'])
  const address = typeof written === 'string' ? URL.parse(written) : null
  if (!address || isLoopback(address)) return []
  return ENDPOINTS.flatMap(endpoint => {
    const path = ['host', 'requests_per_second', endpoint]
    const written = valueAt(config, path)
    const most = REQUESTS_PER_SECOND[endpoint]
    const isMore = written === 'unlimited' || (typeof written === 'number' && written > most)
    if (!isMore) return []
    return { path, message: `is ${written}, must be at most ${most}: the host allows no more` }
  })
}

function homelessPaths(config: unknown, around: Surroundings): Mistake[] {
  const paths = [
    ['host', 'api_key_file'],
    ['host', 'ca_file'],
    ['state_dir'],
    ...mirrorPaths(config, 'folder'),
  ]
  const homeless = paths.filter(path => {
    const written = valueAt(config, path)
    return typeof written === 'string' && resolvePath(written, around) === null
  })
  return homeless.map(path => ({
    path,
    message: 'begins with ~, and $HOME is not set; write the whole path',
  }))
}

function mirrorPaths(config: unknown, key: string): (string | number)[][] {
  const mirrors = valueAt(config, ['mirrors'])
  return Array.isArray(mirrors) ? mirrors.map((_, index) => ['mirrors', index, key]) : []
}

function textsOf(config: unknown, key: string): NamedPath[] {
  return mirrorPaths(config, key).flatMap(at => {
    const path = valueAt(config, at)
    return typeof path === 'string' ? { at, path } : []
  })
}

function foldersOf(config: unknown, around: Surroundings): NamedPath[] {
  return textsOf(config, 'folder').flatMap(({ at, path }) => {
    const absolute = path && resolvePath(path, around)
    return absolute ? { at, path: absolute } : []
  })
}

function misplacedState(config: unknown, around: Surroundings): Mistake[] {
  const written = valueAt(config, ['state_dir'])
  if (typeof written !== 'string' && written !== undefined) return []
  const stateDir = written === undefined ? defaultStateDir(around) : resolvePath(written, around)
  if (stateDir !== null) return holders(stateDir, foldersOf(config, around))
  if (written !== undefined) return []
  return [{ path: ['state_dir'], message: 'is missing, and neither $STATE_DIRECTORY nor $HOME is set' }]
}
