import { ConfigError, unplaced } from './config-error.ts'
import { readBounded } from './read-bounded.ts'
import type { Config } from './schema.ts'
import { unreadable } from './unreadable.ts'

/** Bytes; a whole bundle of authorities is a fifth of it. */
const LARGEST = 2 ** 20

/** The authorities (PEM) of host.ca_file, or null where the config names none. Throws ConfigError. */
export function readAuthorities(config: Pick<Config, 'host'>): string | null {
  const file = config.host.ca_file
  if (file === undefined) return null
  const text = readText(file)
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw refusal(`${file} holds no certificate; it must hold the host's authority in PEM form`)
  return text
}

function readText(file: string): string {
  try {
    return readBounded(file, LARGEST).bytes.toString()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw refusal(
      code === 'ENOENT'
        ? `${file}: no such file; it must hold the host's authority`
        : `${file} ${unreadable(code)}`,
    )
  }
}

function refusal(message: string): ConfigError {
  return new ConfigError([unplaced(null, 'host.ca_file', message)])
}
