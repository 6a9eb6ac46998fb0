import { rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError } from '../../config/config-error.ts'
import { configText } from '../../config/example.ts'
import { parseConfig } from '../../config/load-config.ts'
import { PACKAGE_FOLDER } from '../../daemon/package.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'

/** The config as far as it has been answered, as in the file. */
export interface Draft {
  /** The absolute path where the config will be written. */
  file: string
  config: {
    host: { base_url: string; api_key_file?: string; ca_file?: string; plan?: string }
    mirrors: { folder: string; album: string; deletions?: string }[]
  }
}

/** Values for keys that have no answer yet. */
const HOST = { base_url: 'https://images.example.com/api/v1' }
const MIRRORS = [{ folder: '/srv/photos', album: 'Photos' }]

/** What is wrong with one key, by the checks that read a config; null when nothing is. */
export function faultIn({ file, config: { host, mirrors } }: Draft, key: string): string | null {
  const config = {
    host: host.base_url === '' ? { ...host, ...HOST } : host,
    mirrors: mirrors.length === 0 ? MIRRORS : mirrors,
  }
  try {
    parseConfig(configText(config, ''), { file, env: process.env })
    return null
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.find(problem => problem.key === key)?.message ?? null
  }
}

const SCHEMA = join(PACKAGE_FOLDER, 'config.schema.json')

export interface ToWrite {
  /** The absolute path of the config. */
  file: string
  /** The keys that are set, as in the file. */
  config: { host: object; mirrors: object[] }
  /** A key that is written beside the config, readable by its owner alone; null when a file holds it already. */
  apiKey: { file: string; key: string } | null
  /** The permission bits of the config. */
  mode: number
}

/** The path of the key's file beside a config. */
export function keyFileBeside(file: string): string {
  return join(dirname(file), basename(file) === 'config.yaml' ? 'api-key' : `${basename(file)}.api-key`)
}

/** Writes config and key, or none of them. Overwrites nothing. Throws Problem. */
export function writeConfig({ file, config, apiKey, mode }: ToWrite): void {
  const text = configText(config, SCHEMA)
  inWords(dirname(file), () => makeFolder(dirname(file), 0o755))
  if (apiKey)
    inWords(apiKey.file, () => writeFileSync(apiKey.file, `${apiKey.key}\n`, { flag: 'wx', mode: 0o600 }))
  try {
    inWords(file, () => writeFileSync(file, text, { flag: 'wx', mode }))
  } catch (error) {
    if (apiKey) rmSync(apiKey.file)
    throw error
  }
}

function inWords(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Problem(EXIT.usage, thereAlready(path))
    throw new Problem(
      EXIT.usage,
      `${printable(path)}: can't be written (${code}); name another place with --config`,
    )
  }
}

export function thereAlready(path: string): string {
  return `${printable(path)}: is there already, and nothing is written over; name another place with --config`
}
