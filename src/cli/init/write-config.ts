import { rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { configText } from '../../config/example.ts'
import { PACKAGE_FOLDER } from '../../daemon/package.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'

const SCHEMA = join(PACKAGE_FOLDER, 'config.schema.json')

export interface ToWrite {
  /** The config's file, absolute. */
  file: string
  /** What is set, as in the file. */
  config: { host: object; mirrors: object[] }
  /** A key that is written beside it, readable by its owner alone; null where it is elsewhere already. */
  apiKey: { file: string; key: string } | null
  /** Permission bits of the config's file. */
  mode: number
}

/** The key's file beside a config. */
export function keyFileBeside(file: string): string {
  return join(dirname(file), basename(file) === 'config.yaml' ? 'api-key' : `${basename(file)}.api-key`)
}

/** Writes both or none, and over nothing. Throws Problem. */
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
