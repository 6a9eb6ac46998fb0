import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { shellWord } from '../words/text.ts'
import { ConfigError, unplaced } from './config-error.ts'
import { readBounded } from './paths.ts'
import type { Config } from './schema.ts'

/** What a person should know about the file of a secret, and what to do. */
export interface SecretWarning {
  message: string
  remedy: string
}

export interface ApiKey {
  key: string
  warning: SecretWarning | null
}

export interface KeySource {
  host: Pick<Config['host'], 'api_key_file'> & Partial<Pick<Config['host'], 'key_beside'>>
}

/** What a person can do about a refused key when nobody knows where it came from. */
export const KEY_REMEDY = 'check host.api_key_file, $ALBUMD_API_KEY or the systemd credential "api-key"'

/** What a person can do about a refused key. Names its source. `env`: null when another process has the key. */
export function keyRemedy(config: KeySource, env: NodeJS.ProcessEnv | null): string {
  const found = keyFileOf(config, env ?? {})
  if (!found) return env?.ALBUMD_API_KEY ? 'check $ALBUMD_API_KEY' : KEY_REMEDY
  // systemd hands a service its credential when the service starts, often from the file beside the config.
  const isHandedIn = found.kind === 'credential' || (found.kind === 'beside' && env === null)
  return `check ${namedBy(found)}${isHandedIn ? ', then restart albumd' : ''}`
}

const LONGEST = 4096

/** The account's key (§5): from host.api_key_file, or else $ALBUMD_API_KEY, the systemd credential "api-key", or the file
 * beside the config. Throws ConfigError, which never shows a key. */
export function readApiKey(config: KeySource, env: NodeJS.ProcessEnv): ApiKey {
  const found = keyFileOf(config, env)
  const { key_beside: beside } = config.host
  if (found !== null) return readKeyFile(found, beside)
  const { ALBUMD_API_KEY: given } = env
  if (given) return { key: checked(given, message => refusal('$ALBUMD_API_KEY', message)), warning: null }
  const missing = beside === undefined ? 'No API key' : `No API key: ${beside} is not there`
  throw refusal(
    'host.api_key_file',
    `${missing}. Name the file that holds it here, or set $ALBUMD_API_KEY, or hand in the systemd credential "api-key"`,
  )
}

interface KeyFile {
  file: string
  kind: keyof typeof KEY_FILES
}

const KEY_FILES = {
  named: 'host.api_key_file',
  credential: 'systemd credential "api-key"',
  beside: 'the file beside the config',
}

/** The source of a key as people know it. A systemd credential has a file that only systemd makes. */
function namedBy({ file, kind }: KeyFile): string {
  return kind === 'credential' ? `the ${KEY_FILES[kind]}` : `${KEY_FILES[kind]} (${file})`
}

export function keyFileOf(
  { host }: KeySource,
  { ALBUMD_API_KEY, CREDENTIALS_DIRECTORY }: NodeJS.ProcessEnv,
): KeyFile | null {
  const { api_key_file: named, key_beside: beside } = host
  if (named !== undefined) return { file: named, kind: 'named' }
  if (ALBUMD_API_KEY) return null
  if (CREDENTIALS_DIRECTORY) {
    return { file: join(CREDENTIALS_DIRECTORY, 'api-key'), kind: 'credential' }
  }
  if (beside === undefined || !existsSync(beside)) return null
  return { file: beside, kind: 'beside' }
}

export function accessFilesOf(
  { host, account }: KeySource & AuthoritySource & StoreSource,
  env: NodeJS.ProcessEnv,
): string[] {
  const { shared_password_file, shared_ca_file } = account
  return [keyFileOf({ host }, env)?.file, host.ca_file, shared_password_file, shared_ca_file].filter(
    file => file !== undefined,
  )
}

function readKeyFile({ file, kind }: KeyFile, beside: string | undefined): ApiKey {
  const refuse = (message: string) =>
    kind === 'credential' ? refusal(KEY_FILES[kind], message) : refusalOfFile(file, KEY_FILES[kind], message)
  // The unit hands in the file beside the config, and an empty credential where there is no such file.
  const isAway = kind === 'credential' && beside !== undefined && !existsSync(beside)
  const empty = isAway ? `is empty, because ${beside} is not there` : undefined
  const missing = 'no such file, and it must hold the API key'
  const { bytes, mode } = readBounded(file, LONGEST, missing, refuse)
  return {
    key: checked(bytes.toString(), refuse, empty),
    warning: warningOf(mode, KEY_FILES[kind], file, 'the key'),
  }
}

/** The warning when other users may read a secret. None on Windows, which lacks these bits, and where Node shows all as set. */
function warningOf(mode: number, source: string, file: string, secret: string): SecretWarning | null {
  if (process.platform === 'win32' || (mode & 0o044) === 0) return null
  return {
    message: `${source}: Other users of this machine can read ${secret}`,
    remedy: `Keep the file to its owner: chmod 600 ${shellWord(file)}`,
  }
}

function checked(
  text: string,
  refuse: (message: string) => ConfigError,
  empty = 'is empty, and must hold the API key',
): string {
  const key = text.trim()
  if (key === '') throw refuse(empty)
  if (text.length > LONGEST) throw refuse(`is over ${LONGEST} bytes, and must hold the API key alone`)
  if (/[\r\n]/.test(key)) throw refuse('has several lines, and must hold the API key alone')
  if (!mayBeKey(key)) throw refuse('holds characters that no API key has')
  return key
}

/** Whether a text can be a key. A key goes into a header, so it is one word of printable ASCII. */
export function mayBeKey(text: string): boolean {
  return text.length <= LONGEST && /^[\x21-\x7e]+$/.test(text)
}

interface StoreSource {
  account: Pick<Config['account'], 'shared' | 'shared_password_file' | 'shared_ca_file'>
}

/** What the store that the machines share asks for. */
export interface StoreAccess {
  url: string
  password: string | null
  /** PEM. Null: the authorities that Node knows. */
  ca: string | null
  warning: SecretWarning | null
}

/** How the store of account.shared is reached. Null: the config names none. The password comes from account.shared_password_file
 * or the systemd credential "shared-password". Throws ConfigError, which does not show it. */
export function readStoreAccess({ account }: StoreSource, env: NodeJS.ProcessEnv): StoreAccess | null {
  if (account.shared === undefined) return null
  const found = readPassword(account.shared_password_file, env)
  const ca = readPem(account.shared_ca_file, 'account.shared_ca_file', "the store's authority")
  return { url: account.shared, ca, ...found }
}

function readPassword(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
): Pick<StoreAccess, 'password' | 'warning'> {
  const credential = env.CREDENTIALS_DIRECTORY && join(env.CREDENTIALS_DIRECTORY, 'shared-password')
  const file = named ?? (credential && existsSync(credential) ? credential : null)
  if (file === null) return { password: null, warning: null }
  const source = named === undefined ? 'systemd credential "shared-password"' : 'account.shared_password_file'
  const refuse = (message: string) => refusalOfFile(file, source, message)
  const missing = 'no such file; it must hold the password of account.shared'
  const { bytes, mode } = readBounded(file, LONGEST, missing, refuse)
  const password = bytes.toString().replace(/\r?\n$/, '')
  if (password === '') throw refuse('is empty, and must hold the password of account.shared')
  if (bytes.length > LONGEST || /[\r\n]/.test(password))
    throw refuse('must hold the password of account.shared alone')
  return { password, warning: warningOf(mode, source, file, 'the password') }
}

/** The refusal of a secret's file. The path is shown only when a file is there: any other path may be the secret itself. */
function refusalOfFile(file: string, source: string, message: string): ConfigError {
  return refusal(source, existsSync(file) ? `${file} ${message}` : message)
}

function refusal(key: string, message: string): ConfigError {
  return new ConfigError([unplaced(null, key, message)])
}

const LARGEST_BUNDLE = 2 ** 20

interface AuthoritySource {
  host: Pick<Config['host'], 'ca_file'>
}

/** The certificate authorities (PEM) of host.ca_file, or null when the config names none. Throws ConfigError. */
export function readAuthorities({ host }: AuthoritySource): string | null {
  return readPem(host.ca_file, 'host.ca_file', "the host's authority")
}

function readPem(file: string | undefined, key: string, whose: string): string | null {
  if (file === undefined) return null
  const refuse = (message: string) => refusal(key, `${file} ${message}`)
  const text = readBounded(
    file,
    LARGEST_BUNDLE,
    `is not there, and must hold ${whose}`,
    refuse,
  ).bytes.toString()
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw refuse(`holds no certificate, and must hold ${whose} in PEM form`)
}
