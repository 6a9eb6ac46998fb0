import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'

const SYSTEM_CONFIGS = '/etc/albumd'

/** What a path in a config depends on. */
export interface Surroundings {
  /** The config's file. */
  file: string
  env: NodeJS.ProcessEnv
}

/** The absolute path. `~/` begins at $HOME, a relative path at the config's folder. Null when $HOME is needed and not set. */
export function resolvePath(path: string, { file, env }: Surroundings): string | null {
  if (path !== '~' && !path.startsWith('~/')) return resolve(dirname(resolve(file)), path)
  return env.HOME ? resolve(env.HOME, path.slice(2)) : null
}

/**
 * Where the state is kept when the config names no state_dir: in $STATE_DIRECTORY, which systemd sets; in /var/lib/albumd for
 * a config in /etc/albumd, and in /var/lib/albumd/NAME for a config in /etc/albumd/NAME; otherwise in the user's home. Null
 * when $HOME is needed and not set.
 */
export function defaultStateDir({ file, env }: Surroundings): string | null {
  // systemd separates several folders by colons. The first folder is the unit's own.
  const given = env.STATE_DIRECTORY?.split(':')[0]
  if (given) return resolve(given)
  const folder = dirname(resolve(file))
  if (folder === SYSTEM_CONFIGS || folder.startsWith(`${SYSTEM_CONFIGS}/`))
    return folder.replace(SYSTEM_CONFIGS, '/var/lib/albumd')
  const home = xdgFolder(env.XDG_STATE_HOME, '.local/state', env)
  return home && join(home, 'albumd')
}

/** A base folder of the XDG specification. The specification says that relative paths are ignored. */
export function xdgFolder(set: string | undefined, below: string, env: NodeJS.ProcessEnv): string | null {
  if (set && isAbsolute(set)) return set
  return env.HOME ? resolve(env.HOME, below) : null
}

/**
 * The real path of something that may not exist yet: its existing part is resolved. A link is followed even when its target
 * does not exist, so that a folder has the same name whether its disk is mounted or not.
 */
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

/** The target of a link, or null when the path is no link. */
function endOfLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
