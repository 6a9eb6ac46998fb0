import { lstatSync, opendirSync, realpathSync, statSync } from 'node:fs'
import { sep } from 'node:path'
import { ENDPOINTS } from '../protocol/endpoints.ts'
import { REQUESTS_PER_SECOND } from '../protocol/limits.ts'
import { type KeyPath, keyText, type Problem, unplaced } from './config-error.ts'
import { defaultStateDir, realPathOf, resolvePath, type Surroundings, unreadable } from './paths.ts'
import type { Config } from './schema.ts'
import { isLoopback } from './values.ts'
import { type Mistake, valueAt } from './wording.ts'

/**
 * Mistakes that concern several keys of a config. The values are read as written, so that a mistake in one key does not
 * hide mistakes in other keys. Mistakes in a single key are left to the schema.
 */
export function crossChecks(config: unknown, around: Surroundings): Mistake[] {
  return [
    ...tooManyRequests(config),
    ...albumWithPresign(config),
    ...homelessPaths(config, around),
    ...overlaps(albumsOf(config), '/'),
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

/** The presign form (§4.3) knows no album. */
function albumWithPresign(config: unknown): Mistake[] {
  if (valueAt(config, ['host', 'upload_form']) !== 'presign') return []
  const [first] = albumsOf(config).filter(({ path }) => path !== '')
  if (!first) return []
  const message = `must be "" with host.upload_form presign, which cannot put pictures into an album; or set host.upload_form to credential`
  return [{ path: first.at, message }]
}

function homelessPaths(config: unknown, around: Surroundings): Mistake[] {
  const keys = [['host', 'api_key_file'], ['host', 'ca_file'], ['state_dir'], ...ofMirrors(config, 'folder')]
  return textsAt(config, keys)
    .filter(({ path }) => resolvePath(path, around) === null)
    .map(({ at }) => ({ path: at, message: 'begins with ~, and $HOME is not set; write the whole path' }))
}

function ofMirrors(config: unknown, key: string): KeyPath[] {
  const mirrors = valueAt(config, ['mirrors'])
  return Array.isArray(mirrors) ? mirrors.map((_, index) => ['mirrors', index, key]) : []
}

function textsAt(config: unknown, keys: readonly KeyPath[]): NamedPath[] {
  return keys.flatMap(at => {
    const path = valueAt(config, at)
    return typeof path === 'string' ? { at, path } : []
  })
}

function albumsOf(config: unknown): NamedPath[] {
  return textsAt(config, ofMirrors(config, 'album'))
}

function foldersOf(config: unknown, around: Surroundings): NamedPath[] {
  return textsAt(config, ofMirrors(config, 'folder')).flatMap(({ at, path }) => {
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

/** A key of the config, and the path of a folder or an album that it names. */
interface NamedPath {
  at: KeyPath
  path: string
}

/** Folders or albums that are the same, or of which one lies in the other. The mistake names the later of the two. */
function overlaps(paths: readonly NamedPath[], separator: string = sep): Mistake[] {
  return paths.flatMap(({ at, path }, index) => {
    for (const earlier of paths.slice(0, index)) {
      const relation = relationOf(path, earlier.path, separator)
      if (relation)
        return { path: at, message: `${relation} ${keyText(earlier.at)}; mirrors may not overlap` }
    }
    return []
  })
}

/** Folders that hold the state folder. */
function holders(stateDir: string, folders: readonly NamedPath[]): Mistake[] {
  const message = `holds state_dir (${stateDir}); name one outside of it`
  return folders.flatMap(({ at, path }) => {
    const relation = relationOf(path, stateDir, sep)
    return relation === null || relation === 'lies in' ? [] : { path: at, message }
  })
}

function relationOf(one: string, other: string, separator: string) {
  const within = (path: string) => [separator, ...path.split(separator).filter(Boolean)].join(separator)
  const [from, to] = [`${within(one)}${separator}`, `${within(other)}${separator}`]
  if (from === to) return 'is the same as'
  return from.startsWith(to) ? 'lies in' : to.startsWith(from) ? 'holds' : null
}

/** A mirror whose folder is missing, can't be read, or overlaps another folder on the disk. */
export interface FolderProblem extends Problem {
  code: 'FOLDER_MISSING' | 'FOLDER_UNREADABLE' | 'FOLDER_OVERLAP'
  /** The mirror's folder, as in the config. */
  folder: string
}

/**
 * Looks at the mirrors' folders on the disk, with symbolic links followed: whether each folder exists and can be read, and
 * whether two folders overlap, or a folder holds state_dir.
 */
export function checkFolders(config: Pick<Config, 'mirrors' | 'state_dir'>): FolderProblem[] {
  const real: NamedPath[] = []
  const missing = config.mirrors.flatMap(({ folder }, index) => {
    const at = ['mirrors', index, 'folder']
    const fault = faultOf(folder)
    if (fault) return problem(at, folder, fault.code, fault.message)
    real.push({ at, path: realpathSync(folder) })
    return []
  })
  const overlapping = [...overlaps(real), ...holders(realPathOf(config.state_dir), real)]
  return [
    ...missing,
    ...overlapping.map(({ path, message }) =>
      problem(path, config.mirrors[Number(path[1])]?.folder ?? '', 'FOLDER_OVERLAP', message),
    ),
  ]
}

function problem(at: KeyPath, folder: string, code: FolderProblem['code'], message: string): FolderProblem {
  return { ...unplaced(null, keyText(at), `${folder} ${message}`), code, folder }
}

function faultOf(folder: string): Pick<FolderProblem, 'code' | 'message'> | null {
  try {
    if (!statSync(folder).isDirectory()) return { code: 'FOLDER_MISSING', message: 'is no folder' }
    // Listing a folder and looking at its entries need two permissions. access(2) would check the permissions of the
    // real user.
    opendirSync(folder).closeSync()
    lstatSync(`${folder}/.`)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return {
        code: 'FOLDER_MISSING',
        message: 'is not there; mount what holds it or bring it back; make it only if it is new',
      }
    return { code: 'FOLDER_UNREADABLE', message: unreadable(code) }
  }
}
