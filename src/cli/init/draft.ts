import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../../config/config-error.ts'
import { configText } from '../../config/example.ts'
import { parseConfig } from '../../config/load-config.ts'
import { keyFileBeside } from '../../config/paths.ts'
import { PACKAGE_FOLDER } from '../../daemon/package.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { printable } from '../../words/text.ts'
import { Problem } from '../problem.ts'

export interface Draft {
  file: string
  host: { base_url: string; api_key_file?: string; ca_file?: string; plan?: string }
  mirrors: { folder: string; album: string; deletions?: string }[]
  deletions?: { grace_many: string }
  uploads?: { strip: string }
}

/** Valid values for keys that have no answer yet, so that other keys can be checked. */
const HOST = { base_url: 'https://images.example.com/api/v1' }
const MIRRORS = [{ folder: '/srv/photos', album: 'Photos' }]

/** What is wrong with one key, found by the checks of a config. Null: nothing is wrong. */
export function faultIn({ file, host, mirrors, deletions, uploads }: Draft, key: string): string | null {
  const config = {
    host: host.base_url === '' ? { ...host, ...HOST } : host,
    mirrors: mirrors.length === 0 ? MIRRORS : mirrors,
    ...(deletions && { deletions }),
    ...(uploads && { uploads }),
  }
  return faultOf(() => parseConfig(configText(config, ''), { file, env: process.env }), key)
}

/** The message about a key in a ConfigError that `check` throws. Without `key`, the first message. Null: there is none. */
export function faultOf(check: () => unknown, key?: string): string | null {
  try {
    check()
    return null
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const { problems } = error
    return (key === undefined ? problems[0] : problems.find(problem => problem.key === key))?.message ?? null
  }
}

/** Writes both config and key, or neither. Overwrites nothing. Throws Problem. `key`: written beside the config, readable by
 * the owner alone. Null: a file holds the key already. `mode`: the permission bits of the config. */
export function writeConfig({ file, ...config }: Draft, key: string | null, mode: number): void {
  const text = configText(config, join(PACKAGE_FOLDER, 'config.schema.json'))
  const keyFile = keyFileBeside(file)
  inWords(dirname(file), () => makeFolder(dirname(file), 0o755))
  if (key !== null) inWords(keyFile, () => writeFileSync(keyFile, `${key}\n`, { flag: 'wx', mode: 0o600 }))
  try {
    inWords(file, () => writeFileSync(file, text, { flag: 'wx', mode }))
  } catch (error) {
    if (key !== null) rmSync(keyFile)
    throw error
  }
}

function inWords(path: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'EEXIST'
      ? thereAlready(path)
      : new Problem(`${printable(path)} can't be written (${code}). Name another place with --config`)
  }
}

export function thereAlready(path: string): Problem {
  return new Problem(`${printable(path)} is there already. Name another place with --config`)
}
