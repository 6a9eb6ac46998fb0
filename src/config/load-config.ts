import { statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, unplaced } from './config-error.ts'
import { parseConfig } from './parse-config.ts'
import { xdgFolder } from './paths.ts'
import { readBounded } from './read-bounded.ts'
import type { Config } from './schema.ts'
import { unreadable } from './unreadable.ts'

/** Bytes. */
const LARGEST = 2 ** 20

/**
 * The config's file: the one that `--config` or else $ALBUMD_CONFIG names, whether it is there or not; without them
 * the first that is there of ./albumd.yaml, $XDG_CONFIG_HOME/albumd/config.yaml and /etc/albumd/config.yaml. Throws
 * ConfigError with the places where none was.
 */
export function findConfig(env: NodeJS.ProcessEnv, cwd: string, flag?: string): string {
  const named = flag ?? env.ALBUMD_CONFIG
  if (named) return named
  const personal = xdgFolder(env.XDG_CONFIG_HOME, '.config', env)
  const places = [
    join(cwd, 'albumd.yaml'),
    ...(personal ? [join(personal, 'albumd', 'config.yaml')] : []),
    '/etc/albumd/config.yaml',
  ]
  const found = places.find(exists)
  if (found) return found
  const remedy = 'albumd init writes one; or name yours with --config'
  throw new ConfigError([unplaced(null, null, `no config in ${places.join(', ')}; ${remedy}`)])
}

/** What may not be looked at counts as there: reading it tells why not. */
function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** Reads a config. `env` answers $HOME and what the default state_dir hangs on. Throws ConfigError with all that is wrong. */
export function loadConfig(file: string, env: NodeJS.ProcessEnv): Config {
  return parseConfig(readText(file), { file, env })
}

function readText(file: string): string {
  const bytes = readBytes(file)
  if (bytes.length > LARGEST) throw refusal(file, `is over ${LARGEST} bytes; that is no config`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refusal(file, 'is not UTF-8 text')
  }
}

function readBytes(file: string): Buffer {
  try {
    return readBounded(file, LARGEST).bytes
  } catch (error) {
    throw refusal(file, wordingOf(error as NodeJS.ErrnoException))
  }
}

function wordingOf({ code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return 'no such file; config.example.yaml shows what belongs in it'
  return unreadable(code)
}

function refusal(file: string, message: string): ConfigError {
  return new ConfigError([unplaced(file, null, message)])
}
