import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { ConfigError } from '../config/config-error.ts'
import { findConfig, readConfigText } from '../config/config-file.ts'
import { checkFolders } from '../config/folders.ts'
import { readApiKey, readAuthorities, readStoreAccess, type SecretWarning } from '../config/host-access.ts'
import { realPathOf } from '../config/paths.ts'
import type { Config } from '../config/schema.ts'
import type { Access } from '../daemon/engine/remote.ts'
import { findLibHeif } from '../daemon/heic/libheif.ts'
import { orNull } from '../daemon/or-null.ts'
import { version } from '../daemon/package.ts'
import { sayAside } from './terminal/output.ts'

const ENVIRONMENT = ['HOME', 'STATE_DIRECTORY', 'XDG_STATE_HOME'] as const

interface Known {
  from: string
  config: Config
}

export async function readConfig(flag: string | undefined, say = sayAside): Promise<Config> {
  const config = await keptOrParsed(flag)
  for (const line of config.gone) say(line)
  return config
}

/** Loading the schema and checking a config takes 30 ms, which is longer than most commands work. So the config that was last
 * valid is kept beside the compiled code, where only people can write who can change the code too. It is used while everything
 * stays the same from which it was made. */
async function keptOrParsed(flag: string | undefined): Promise<Config> {
  const file = findConfig(process.env, process.cwd(), flag)
  const text = readConfigText(file)
  const env = Object.fromEntries(ENVIRONMENT.map(name => [name, process.env[name]]))
  const made = [version, statSync(import.meta.filename).mtimeMs, resolve(file), env, hostname(), text]
  const from = JSON.stringify(made)
  const known = lastKnown()
  if (known?.from === from) return completed(known.config)
  const { parseConfig } = await import('../config/load-config.ts')
  const config = parseConfig(text, { file, env })
  keep({ from, config })
  return completed(config)
}

/** What a look at this machine adds. */
function completed(config: Config): Config {
  const converts = config.uploads.convert.includes('heic') && findLibHeif() !== null
  return {
    ...config,
    mirrors: config.mirrors.map(mirror => ({ ...mirror, folder: realPathOf(mirror.folder), converts })),
  }
}

/** The file that keeps the config. Null: none is kept, because compiled code is not kept either, or the program runs from its
 * sources. */
function place(): string | null {
  const folder = import.meta.filename.endsWith('.js') ? getCompileCacheDir() : undefined
  return folder === undefined ? null : join(folder, 'config')
}

function lastKnown(): Known | null {
  const file = place()
  return file && orNull(() => deserialize(readFileSync(file)))
}

/** Keeps the config for later commands. Only the owner can read the file, because a config may name secrets. */
function keep(known: Known): void {
  const file = place()
  if (file === null) return
  // A config that could not be kept is checked again by the next command.
  orNull(() => {
    writeFileSync(`${file}.${process.pid}`, serialize(known), { mode: 0o600 })
    renameSync(`${file}.${process.pid}`, file)
  })
}

export function readAccess(config: Config, say = sayAside): Access {
  const { key, warning } = readApiKey(config, process.env)
  const ca = readAuthorities(config)
  const store = readStoreAccess(config, process.env)
  for (const told of [warning, store?.warning]) sayWarning(told, say)
  return { apiKey: key, ca, store }
}

export function sayWarning(told: SecretWarning | null | undefined, say = sayAside): void {
  if (told) say(`${told.message}. ${told.remedy}`)
}

/** Throws ConfigError when a folder of `needed` is missing, or when a mirror's folder overlaps another folder. `run` does not
 * call this function, because `run` waits for a missing folder. `needed`: mirrors of the config. */
export function refuseMissingFolders(
  config: Config,
  needed: readonly { folder: string }[] = config.mirrors,
): void {
  const isNeeded = (at: string) => needed.some(({ folder }) => folder === at)
  const problems = checkFolders(config).filter(
    ({ code, folder }) => code === 'FOLDER_OVERLAP' || isNeeded(folder),
  )
  if (problems.length > 0) throw new ConfigError(problems)
}
