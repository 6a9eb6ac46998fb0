import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config-error.ts'
import { keyRemedy, readApiKey, readStoreAccess } from '../../src/config/host-access.ts'
import { asNobody } from '../nobody.ts'
import { tempFolder } from '../temp-folder.ts'
import { parse, SHORTEST } from './config-text.ts'

const { host } = parse(SHORTEST)

let folder: string
let file: string

beforeEach(() => {
  folder = tempFolder()
  file = join(folder, 'api-key')
})

function write(content: string, mode = 0o600): void {
  writeFileSync(file, content)
  chmodSync(file, mode)
}

const fromFile = (env: NodeJS.ProcessEnv = {}) => readApiKey({ host: { ...host, api_key_file: file } }, env)

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  return 'nothing'
}

describe('the API key', () => {
  it('comes from the file that the config names, and from nowhere else then', () => {
    write('key-of-file\n')
    const env = { ALBUMD_API_KEY: 'key-of-env', CREDENTIALS_DIRECTORY: folder }
    expect(fromFile(env)).toEqual({ key: 'key-of-file', warning: null })
    rmSync(file)
    expect(refusal(() => fromFile(env))).toBe('host.api_key_file: no such file, and it must hold the API key')
  })

  it('comes from the environment, or else from the systemd credential, where the config names no file', () => {
    write('key-of-credential')
    const credential = { CREDENTIALS_DIRECTORY: folder }
    expect(readApiKey({ host }, { ...credential, ALBUMD_API_KEY: ' key-of-env ' }).key).toBe('key-of-env')
    expect(readApiKey({ host }, { ...credential, ALBUMD_API_KEY: '' }).key).toBe('key-of-credential')
    rmSync(file)
    expect(refusal(() => readApiKey({ host }, credential))).toBe(
      'systemd credential "api-key": no such file, and it must hold the API key',
    )
  })

  it('comes from the file beside the config, where nothing else has it', () => {
    write('key-beside')
    const { host } = parse(SHORTEST, { HOME: folder }, join(folder, 'config.yaml'))
    expect(readApiKey({ host }, {}).key).toBe('key-beside')
    expect(readApiKey({ host }, { ALBUMD_API_KEY: 'key-of-env' }).key).toBe('key-of-env')
    expect(refusal(() => readApiKey({ host }, { CREDENTIALS_DIRECTORY: join(folder, 'none') }))).toMatch(
      /^systemd credential "api-key": no such file/,
    )
    const other = parse(SHORTEST, { HOME: folder }, join(folder, 'other.yaml'))
    expect(refusal(() => readApiKey(other, {}))).toContain(
      `: No API key: ${join(folder, 'other.yaml.api-key')} is not there. Name the file`,
    )
  })

  it('that is nowhere is asked for by all three places', () => {
    expect(refusal(() => readApiKey({ host }, {}))).toBe(
      'host.api_key_file: No API key: /etc/x/albumd.yaml.api-key is not there. Name the file that holds it here, or set $ALBUMD_API_KEY, or hand in the systemd credential "api-key"',
    )
  })

  it.each([
    ['', 'is empty, and must hold the API key'],
    [' \n\n', 'is empty, and must hold the API key'],
    ['hunter2\nhunter3\n', 'has several lines, and must hold the API key alone'],
    ['hunter2 hunter3', 'holds characters that no API key has'],
    ['hunter2\u00e9', 'holds characters that no API key has'],
    ['hunter2\0', 'holds characters that no API key has'],
    ['h'.repeat(4097), 'is over 4096 bytes, and must hold the API key alone'],
  ])('%j is refused without being shown', (content, message) => {
    write(content)
    expect(refusal(fromFile)).toBe(`host.api_key_file: ${file} ${message}`)
    const beside = { host: { ...host, key_beside: file } }
    expect(refusal(() => readApiKey(beside, { CREDENTIALS_DIRECTORY: folder }))).toBe(
      `systemd credential "api-key": ${message}`,
    )
  })

  it('that the host refuses is looked for where it came from', () => {
    const config = parse(SHORTEST, { HOME: folder }, join(folder, 'config.yaml'))
    const named = { host: { ...host, api_key_file: file } }
    const env = { ALBUMD_API_KEY: 'key-of-env' }
    const credential = { CREDENTIALS_DIRECTORY: folder }
    const anywhere = 'host.api_key_file, $ALBUMD_API_KEY or the systemd credential "api-key"'
    for (const [from, where] of [
      [keyRemedy(named, env), `host.api_key_file (${file})`],
      [keyRemedy(named, null), `host.api_key_file (${file})`],
      [keyRemedy(config, env), '$ALBUMD_API_KEY'],
      [keyRemedy(config, credential), 'the systemd credential "api-key", then restart albumd'],
      [keyRemedy(config, null), anywhere],
    ])
      expect(from).toBe(`check ${where}`)
    write('key-beside')
    expect(keyRemedy(config, {})).toBe(`check the file beside the config (${file})`)
    expect(keyRemedy(config, null)).toBe(`check the file beside the config (${file}), then restart albumd`)
  })

  it('of a credential that is empty for want of a file names that file', () => {
    write('\n')
    expect(refusal(() => readApiKey({ host }, { CREDENTIALS_DIRECTORY: folder }))).toBe(
      'systemd credential "api-key": is empty, because /etc/x/albumd.yaml.api-key is not there',
    )
  })

  it('as long as 4096 bytes is a key', () => {
    write('h'.repeat(4096))
    expect(fromFile().key).toHaveLength(4096)
  })

  it('pasted in the place of its path is not shown', () => {
    const pasted = { host: { ...host, api_key_file: join(folder, 'sk-hunter2') } }
    expect(refusal(() => readApiKey(pasted, {}))).toBe(
      'host.api_key_file: no such file, and it must hold the API key',
    )
  })

  it.runIf(process.getuid?.() === 0)(
    "in a file of another user is refused with the file's path",
    async () => {
      write('hunter2')
      chmodSync(folder, 0o755)
      expect(await asNobody(() => refusal(fromFile))).toMatch(
        new RegExp(
          `^host\\.api_key_file: ${file} can't be read \\(EACCES\\)\\. Let the user that albumd runs as read it`,
        ),
      )
    },
  )

  it('in a folder is refused', () => {
    const inFolder = { host: { ...host, api_key_file: folder } }
    expect(refusal(() => readApiKey(inFolder, {}))).toBe(
      `host.api_key_file: ${folder} is a folder; name the file in it`,
    )
  })

  it.skipIf(process.platform === 'win32').each([
    [0o600, false],
    [0o400, false],
    [0o640, true],
    [0o604, true],
  ])('in a file of mode %o is warned of: %s', (mode, warned) => {
    write('key', mode)
    expect(fromFile().warning).toEqual(
      warned
        ? {
            message: 'host.api_key_file: Other users of this machine can read the key',
            remedy: `Keep the file to its owner: chmod 600 ${file}`,
          }
        : null,
    )
  })
})

it.skipIf(process.platform === 'win32').each([
  [0o600, null],
  [0o644, 'account.shared_password_file: Other users of this machine can read the password'],
])("the store's password in a file of mode %o is warned of: %s", (mode, message) => {
  write('open sesame', mode)
  const account = { shared: 'redis://store', shared_password_file: file, shared_ca_file: undefined }
  const access = readStoreAccess({ account }, {})
  expect(access).toMatchObject({ password: 'open sesame' })
  expect(access?.warning?.message ?? null).toBe(message)
})
