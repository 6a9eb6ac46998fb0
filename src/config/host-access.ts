import { join } from 'node:path'
import { ConfigError, unplaced } from './config-error.ts'
import { readBounded } from './paths.ts'
import type { Config } from './schema.ts'

export interface ApiKey {
  key: string
  /** What a person should know about the key's file, in one line, or null. */
  warning: string | null
}

/** The part of a config that tells where the key is. */
export interface KeySource {
  host: Pick<Config['host'], 'api_key_file'>
}

/** What a person can do when the host refuses the key. */
export const KEY_REMEDY =
  'check the key: host.api_key_file, $ALBUMD_API_KEY or the systemd credential "api-key"'

/** The longest key that is accepted, in bytes. */
const LONGEST = 4096

/**
 * The account's key (§5). It comes from host.api_key_file. When the config names no file, it comes from
 * $ALBUMD_API_KEY, or else from the systemd credential "api-key". Throws ConfigError, which shows neither the key nor
 * the path, because people write the key where the path belongs.
 */
export function readApiKey(config: KeySource, env: NodeJS.ProcessEnv): ApiKey {
  const file = keyFileOf(config, env)
  if (file !== null)
    return readKeyFile(
      file,
      config.host.api_key_file === undefined ? 'systemd credential "api-key"' : 'host.api_key_file',
    )
  if (env.ALBUMD_API_KEY) return { key: checked(env.ALBUMD_API_KEY, '$ALBUMD_API_KEY'), warning: null }
  throw refusal(
    'host.api_key_file',
    'no API key: name the file that holds it here, or set $ALBUMD_API_KEY, or hand in the systemd credential "api-key", as "albumd service install" has systemd do',
  )
}

/** The file that holds the key, or null when no file does. */
export function keyFileOf(
  { host }: KeySource,
  { ALBUMD_API_KEY, CREDENTIALS_DIRECTORY }: NodeJS.ProcessEnv,
): string | null {
  if (host.api_key_file !== undefined) return host.api_key_file
  return ALBUMD_API_KEY || !CREDENTIALS_DIRECTORY ? null : join(CREDENTIALS_DIRECTORY, 'api-key')
}

function readKeyFile(file: string, source: string): ApiKey {
  const missing = 'no such file; it must hold the API key'
  const { bytes, mode } = readBounded(file, LONGEST, missing, message => refusal(source, message))
  const warning = `${source}: other users of this machine can read the key; chmod 600 keeps it to its owner`
  return { key: checked(bytes.toString(), source), warning: readableByOthers(mode) ? warning : null }
}

/** Whether other users may read the key. Windows has no such bits, and Node shows them all as set there. */
function readableByOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & 0o044) !== 0
}

function checked(text: string, source: string): string {
  const key = text.trim()
  if (key === '') throw refusal(source, 'is empty; it must hold the API key')
  if (text.length > LONGEST) throw refusal(source, `is over ${LONGEST} bytes; that is no API key`)
  if (/[\r\n]/.test(key))
    throw refusal(source, 'has several lines; it must hold the API key and nothing else')
  if (!mayBeKey(key)) throw refusal(source, 'holds characters that no API key has')
  return key
}

/** Whether a text can be a key. A key goes into a header, so it is one word of printable ASCII. */
export function mayBeKey(text: string): boolean {
  return text.length <= LONGEST && /^[\x21-\x7e]+$/.test(text)
}

function refusal(key: string, message: string): ConfigError {
  return new ConfigError([unplaced(null, key, message)])
}

/** The most bytes of a bundle of authorities. All authorities of a system are a fifth of this. */
const LARGEST_BUNDLE = 2 ** 20

/** The part of a config that names the host's authorities. */
interface AuthoritySource {
  host: Pick<Config['host'], 'ca_file'>
}

/** The certificate authorities (PEM) of host.ca_file, or null when the config names none. Throws ConfigError. */
export function readAuthorities({ host: { ca_file: file } }: AuthoritySource): string | null {
  if (file === undefined) return null
  const refuse = (message: string) => refusal('host.ca_file', `${file} ${message}`)
  const missing = "is not there; it must hold the host's authority"
  const text = readBounded(file, LARGEST_BUNDLE, missing, refuse).bytes.toString()
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw refuse("holds no certificate; it must hold the host's authority in PEM form")
}
