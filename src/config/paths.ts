import { dirname, isAbsolute, join, resolve } from 'node:path'

const SYSTEM_CONFIGS = '/etc/albumd'

/** What a path in a config may hang on. */
export interface Surroundings {
  /** The config's file. */
  file: string
  env: NodeJS.ProcessEnv
}

/** An absolute path: `~/` begins at $HOME, a relative one at the config's folder. Null where $HOME is needed and not set. */
export function resolvePath(path: string, { file, env }: Surroundings): string | null {
  if (path !== '~' && !path.startsWith('~/')) return resolve(dirname(resolve(file)), path)
  return env.HOME ? resolve(env.HOME, path.slice(2)) : null
}

/**
 * Where the state is kept when the config does not say: $STATE_DIRECTORY, which systemd sets; /var/lib/albumd for a
 * config in /etc/albumd, and /var/lib/albumd/NAME for one in /etc/albumd/NAME; else the user's own. Null where there is no home to look in.
 */
export function defaultStateDir({ file, env }: Surroundings): string | null {
  // systemd separates several by colons; the first is the unit's own.
  const given = env.STATE_DIRECTORY?.split(':')[0]
  if (given) return resolve(given)
  const folder = dirname(resolve(file))
  if (folder === SYSTEM_CONFIGS || folder.startsWith(`${SYSTEM_CONFIGS}/`))
    return folder.replace(SYSTEM_CONFIGS, '/var/lib/albumd')
  const home = xdgFolder(env.XDG_STATE_HOME, '.local/state', env)
  return home && join(home, 'albumd')
}

/** A base folder of the XDG specification, which has relative ones ignored. */
export function xdgFolder(set: string | undefined, below: string, env: NodeJS.ProcessEnv): string | null {
  if (set && isAbsolute(set)) return set
  return env.HOME ? resolve(env.HOME, below) : null
}
