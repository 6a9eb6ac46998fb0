import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { ConfigError } from '../../src/config/config-error.ts'
import { findConfig } from '../../src/config/config-file.ts'
import { configExample } from '../../src/config/example.ts'
import { loadConfig, parseConfig } from '../../src/config/load-config.ts'
import { SHORTEST } from './config-text.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'albumd-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, content: string | Uint8Array): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

describe('findConfig', () => {
  let cwd: string
  let env: NodeJS.ProcessEnv

  beforeEach(() => {
    cwd = mkdtempSync(join(folder, 'cwd-'))
    env = { HOME: join(cwd, 'home'), XDG_CONFIG_HOME: join(cwd, 'xdg') }
    for (const place of ['home/.config/albumd', 'xdg/albumd']) {
      mkdirSync(join(cwd, place), { recursive: true })
      writeFileSync(join(cwd, place, 'config.yaml'), SHORTEST)
    }
    writeFileSync(join(cwd, 'albumd.yaml'), SHORTEST)
  })

  it('prefers what --config names to what $ALBUMD_CONFIG names, and both to what is there', () => {
    expect(findConfig({ ...env, ALBUMD_CONFIG: 'b.yaml' }, cwd, 'a.yaml')).toBe('a.yaml')
    expect(findConfig({ ...env, ALBUMD_CONFIG: 'b.yaml' }, cwd)).toBe('b.yaml')
  })

  it("looks into the working folder, then into the user's own", () => {
    expect(findConfig(env, cwd)).toBe(join(cwd, 'albumd.yaml'))
    rmSync(join(cwd, 'albumd.yaml'))
    expect(findConfig(env, cwd)).toBe(join(cwd, 'xdg/albumd/config.yaml'))
    expect(findConfig({ HOME: env.HOME }, cwd)).toBe(join(cwd, 'home/.config/albumd/config.yaml'))
  })

  it('takes the file of the machine last, or says where it looked', () => {
    rmSync(join(cwd, 'albumd.yaml'))
    const find = () => {
      try {
        return findConfig({}, cwd)
      } catch (error) {
        return (error as Error).message
      }
    }
    expect([
      '/etc/albumd/config.yaml',
      `No config in ${join(cwd, 'albumd.yaml')}, /etc/albumd/config.yaml. "albumd init" writes one, or name yours with --config`,
    ]).toContain(find())
  })
})

describe('loadConfig', () => {
  const messageOf = (file: string) => {
    try {
      return loadConfig(file, { HOME: '/home/ann' })
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError)
      return (error as ConfigError).message
    }
  }

  it('reads a file, with or without a byte order mark', () => {
    const plain = messageOf(write('plain.yaml', SHORTEST))
    expect(plain).toHaveProperty('mirrors', [
      { folder: '/srv/photos', album: 'Photos', deletions: 'propagate', ignore: [] },
    ])
    expect(messageOf(write('plain.yaml', `\uFEFF${SHORTEST}`))).toEqual(plain)
  })

  it('says what is wrong with a file that is none', () => {
    const missing = join(folder, 'missing.yaml')
    expect(messageOf(missing)).toBe(
      `${missing}: no such file. "albumd init" writes one, and config.example.yaml shows what belongs in it`,
    )
    expect(messageOf(folder)).toBe(`${folder}: is a folder; name the file in it`)
    const latin = write('latin1.yaml', Buffer.from('host: Zürich', 'latin1'))
    expect(messageOf(latin)).toBe(`${latin}: is not UTF-8 text`)
    const large = write('large.yaml', Buffer.alloc(2 ** 16 + 1, '#'))
    expect(messageOf(large)).toBe(`${large}: is over 65536 bytes, and no config is`)
  })

  it('names the file as it was given, with line and column', () => {
    const file = write('wrong.yaml', `${SHORTEST}hots: 1\n`)
    expect(messageOf(file)).toBe(`${file}:6:1: hots: unknown key; did you mean host?`)
  })

  it('throws nothing but ConfigError, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        messageOf(write('bytes.yaml', bytes))
      }),
    )
  })

  it('throws nothing but ConfigError, whatever a person does to a good config', () => {
    const example = configExample().replace(/^( *)#(?=\w)/gm, '$1')
    const position = fc.nat({ max: example.length })
    const slip = fc.tuple(
      position,
      fc.nat({ max: 40 }),
      fc.oneof(fc.constantFrom(...'&*!%@`|>-?:{}[]",\'#\t\n\0'), fc.string()),
    )
    fc.assert(
      fc.property(fc.array(slip, { minLength: 1, maxLength: 4 }), slips => {
        const text = slips.reduce(
          (before, [at, gone, put]) => before.slice(0, at) + put + before.slice(at + gone),
          example,
        )
        messageOf(write('slips.yaml', text))
      }),
      { numRuns: 500 },
    )
  })

  it('refuses an address that is no text, whatever it answers to', () => {
    const text = 'host: {base_url: {toString: false}}\nmirrors: [{folder: a, album: A}]\n'
    expect(() => parseConfig(text, { file: 'albumd.yaml', env: {} })).toThrow(ConfigError)
  })

  it('throws nothing but ConfigError, whatever stands under the keys', () => {
    const anything = fc.anything({
      values: [fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)],
    })
    const section = (...keys: string[]) =>
      fc.oneof(
        anything,
        fc.record(Object.fromEntries(keys.map(key => [key, anything])), { requiredKeys: [] }),
      )
    const config = fc.record({
      host: section('base_url', 'api_key_file', 'site_url', 'requests_per_second', 'timeout', 'quota_reset'),
      mirrors: fc.oneof(anything, fc.array(section('folder', 'album', 'deletions', 'ignore'))),
      uploads: section('bandwidth', 'hours', 'concurrency'),
      status_page: section('listen'),
      picgo_server: section('listen', 'folder'),
      state_dir: anything,
    })
    fc.assert(
      fc.property(config, value => {
        messageOf(write('values.yaml', stringify(value)))
      }),
      { numRuns: 300 },
    )
  })
})
