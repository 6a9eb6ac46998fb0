import { closeSync, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { readRemedy } from '../words/system-errors.ts'

const SYSTEM_CONFIGS = '/etc/albumd'

export interface Surroundings {
  file: string
  env: NodeJS.ProcessEnv
}

/** The absolute path. `~/` begins at $HOME, a relative path at the config's folder. Null when $HOME is needed and not set. */
export function resolvePath(path: string, { file, env }: Surroundings): string | null {
  if (path !== '~' && !path.startsWith('~/')) return resolve(dirname(resolve(file)), path)
  return env.HOME ? resolve(env.HOME, path.slice(2)) : null
}

/** The state folder when the config names none: $STATE_DIRECTORY (systemd's), /var/lib/albumd for a config in /etc/albumd, a
 * folder in it for a config in /etc/albumd/NAME, else a folder in the user's home. Null without $HOME. */
export function defaultStateDir({ file, env }: Surroundings): string | null {
  // systemd separates several folders by colons. The unit's own folder is the first.
  const given = env.STATE_DIRECTORY?.split(':')[0]
  if (given) return resolve(given)
  const folder = dirname(resolve(file))
  if (folder === SYSTEM_CONFIGS || folder.startsWith(`${SYSTEM_CONFIGS}/`))
    return folder.replace(SYSTEM_CONFIGS, '/var/lib/albumd')
  const home = xdgFolder(env.XDG_STATE_HOME, '.local/state', env)
  return home && join(home, 'albumd')
}

/** The path of the key's file beside a config. `init` writes the key there, and systemd reads it there for the unit. */
export function keyFileBeside(file: string): string {
  const name = basename(file) === 'config.yaml' ? 'api-key' : `${basename(file)}.api-key`
  return join(dirname(resolve(file)), name)
}

/** A base folder of the XDG specification. The specification says that relative paths are ignored. */
export function xdgFolder(set: string | undefined, below: string, env: NodeJS.ProcessEnv): string | null {
  if (set && isAbsolute(set)) return set
  return env.HOME ? resolve(env.HOME, below) : null
}

/** The real path of a path that may not exist yet. A link to a missing target is followed, so that a mount changes no name. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const end = (error as NodeJS.ErrnoException).code === 'ENOENT' ? endOfLink(path) : null
    if (end !== null) return realPathOf(resolve(dirname(path), end))
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

function endOfLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

/** Reads a small file and its mode: at most `most` + 1 bytes, because a device has no end. `missing`: the words for no file. */
export function readBounded(
  file: string,
  most: number,
  missing: string,
  refusal: (message: string) => Error,
): { bytes: Buffer; mode: number } {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, 'r')
    const { mode } = fstatSync(descriptor)
    const bytes = Buffer.alloc(most + 1)
    let filled = 0
    // A read from a pipe may give fewer bytes than were asked for.
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
      count = readSync(descriptor, bytes, filled, bytes.length - filled, null)
    return { bytes: bytes.subarray(0, filled), mode }
  } catch (error) {
    throw refusal(unreadable((error as NodeJS.ErrnoException).code, missing))
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

/** The words for a file that can't be read. `code`: the system's. `missing`: the words for no file. */
export function unreadable(code: string | undefined, missing = 'is not there'): string {
  if (code === 'ENOENT') return missing
  if (code === 'EISDIR') return 'is a folder; name the file in it'
  return `can't be read (${code}). ${readRemedy(code)}`
}
