import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { png } from '../../pictures.ts'
import { type Run, runHere, type Stage, setStage } from '../stage/stage.ts'
import { atTerminal, hasScript } from '../stage/terminal.ts'

/** `albumd init` without a terminal, for the stage's host and folder, in this process. */
function init(stage: Stage, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const usual = ['--base-url', stage.baseUrl, '--folder', 'pictures', '--config', 'etc/config.yaml']
  return runHere(['init', ...usual, ...args], stage.home, { ALBUMD_API_KEY: stage.key, ...env })
}

const config = (stage: Stage) => join(stage.home, 'etc/config.yaml')
const isThere = (stage: Stage) => existsSync(config(stage)) || existsSync(join(stage.home, 'etc/api-key'))

describe('init without a terminal', () => {
  it('writes a commented config and the key apart, with which albumd works', async () => {
    const stage = await setStage()
    stage.write('a.png', png(3, 2).bytes)
    const { code, out } = await init(stage, ['--deletions', 'keep', '--album', 'Family/2024'])
    expect(code).toBe(0)
    expect(out).toContain('Delivery addresses are public')
    expect(out).toContain('with their metadata')
    expect(out).not.toContain(stage.key)
    for (const file of ['config.yaml', 'api-key'])
      expect(statSync(join(stage.home, 'etc', file)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(stage.home, 'etc/api-key'), 'utf8').trim()).toBe(stage.key)
    const text = readFileSync(config(stage), 'utf8')
    expect(text).not.toContain(stage.key)
    expect(text).toContain('  #hold_above: 25%')
    const [, schema] = /^# yaml-language-server: \$schema=(.+)$/m.exec(text)!
    expect(JSON.parse(readFileSync(schema!, 'utf8'))).toHaveProperty('properties.mirrors')
    expect(loadConfig(config(stage), { HOME: stage.home }).mirrors).toEqual([
      { folder: stage.pictures, album: 'Family/2024', deletions: 'keep', ignore: [] },
    ])
    expect(await stage.here('sync', '--config', config(stage))).toMatchObject({ code: 0 })
    expect(Object.keys(await stage.delivered())).toEqual(['Family/2024/a.png'])
    // As in /etc/albumd, where the config does not name the key's file.
    writeFileSync(config(stage), text.replace('  api_key_file:', '  #api_key_file:'))
    expect(await stage.here('sync', '--config', config(stage))).toMatchObject({ code: 0 })
    expect(await stage.here('doctor', '--all', '--config', config(stage))).toMatchObject({
      out: expect.stringContaining('the host accepts it'),
    })
  })

  it('writes over nothing: neither a config nor a key', async () => {
    const stage = await setStage()
    mkdirSync(join(stage.home, 'etc'))
    writeFileSync(join(stage.home, 'etc/api-key'), 'mine')
    const { code, err } = await init(stage, [])
    expect([code, err]).toEqual([2, expect.stringContaining('etc/api-key is there already')])
    expect(readdirSync(join(stage.home, 'etc'))).toEqual(['api-key'])
    writeFileSync(config(stage), 'mine')
    expect(await init(stage, ['--api-key-file', 'api-key'])).toMatchObject({ code: 2 })
    expect(readFileSync(config(stage), 'utf8')).toBe('mine')
  })

  it('names all options that are missing', async () => {
    const stage = await setStage()
    const { code, err } = await runHere(['init', '--config', 'new.yaml'], stage.home)
    expect(code).toBe(2)
    for (const option of ['--base-url', '--api-key-file', '--folder']) expect(err).toContain(option)
  })

  it('writes nothing where the host refuses the key or is away, unless it is told not to ask', async () => {
    const stage = await setStage()
    const refused = await init(stage, [], { ALBUMD_API_KEY: 'another-key' })
    expect(refused).toMatchObject({
      code: 5,
      err: expect.stringMatching(
        /^albumd: The host refuses the key: .*\(INVALID_API_KEY\)\. Put the right key into \$ALBUMD_API_KEY\n$/,
      ),
    })
    expect(refused.err + refused.out).not.toContain('another-key')
    const nowhere = [
      '--base-url',
      'http://127.0.0.1:9/api/v1',
      '--folder',
      'pictures',
      '--config',
      'etc/config.yaml',
    ]
    const away = (...args: string[]) =>
      runHere(['init', ...nowhere, ...args], stage.home, { ALBUMD_API_KEY: 'a-key' })
    expect(await away()).toMatchObject({
      code: 3,
      err: expect.stringMatching(/connection refused\)\. .*--no-check/),
    })
    expect(isThere(stage)).toBe(false)
    expect(await away('--no-check')).toMatchObject({ code: 0 })
    expect(isThere(stage)).toBe(true)
  })

  it('takes the key from the environment as albumd does later: without a line’s end, and nothing odd', async () => {
    const stage = await setStage()
    const odd = await init(stage, [], { ALBUMD_API_KEY: `${stage.key}\u2013` })
    expect(odd).toMatchObject({ code: 2, err: expect.stringContaining('holds characters that no API key') })
    expect(isThere(stage)).toBe(false)
    const readable = join(stage.home, 'readable-key')
    writeFileSync(readable, stage.key, { mode: 0o644 })
    const fromFile = ['--api-key-file', 'readable-key', '--no-check']
    expect(await init(stage, fromFile)).toMatchObject({
      code: 0,
      err: `albumd: host.api_key_file: Other users of this machine can read the key. Keep the file to its owner: chmod 600 ${readable}\n`,
    })
    rmSync(join(stage.home, 'etc'), { recursive: true })
    const { code, out } = await init(stage, [], { ALBUMD_API_KEY: `${stage.key}\n` })
    expect(code).toBe(0)
    expect(out).not.toContain('HOST_UNREACHABLE')
    expect(readFileSync(join(stage.home, 'etc/api-key'), 'utf8')).toBe(`${stage.key}\n`)
  })

  it('says what is wrong with an answer, and writes nothing', async () => {
    const stage = await setStage()
    const wrong: [string[], string][] = [
      [['--folder', 'nowhere'], 'nowhere is not there, or no folder'],
      [['--folder', 'pictures/..'], 'holds mirrors[0].folder; mirrors may not overlap'],
      [['--album', '/Photos'], "--album: is '/Photos', must not begin or end with a slash"],
      [['--album', 'a', '--album', 'b'], '--album is given more often than --folder'],
    ]
    for (const [args, words] of wrong)
      expect(await init(stage, args)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
    expect(isThere(stage)).toBe(false)
  })
})

describe.skipIf(!hasScript && !process.env.CI)('init at a terminal', () => {
  it('asks, says what is wrong and asks again, and does not show the key', async () => {
    const stage = await setStage()
    const { answer, out, ended } = atTerminal(stage, 'init --config etc/config.yaml')
    await answer('interface', 'http://images.example.com/api/v1\r')
    await answer('plain http is for loopback addresses alone', '')
    await answer('interface', 'http://127.0.0.1:9/api/v1\r')
    await answer('[http://127.0.0.1:9/api/v1]', `${new URL(stage.baseUrl).origin}\r`)
    await answer('The API key (not shown)', 'wrong-key\r')
    await answer('The API key is not valid', '')
    await answer('The API key (not shown)', `${stage.key}\r`)
    await answer('The folder of your pictures', 'nowhere\r')
    await answer('is not there', '')
    await answer('The folder of your pictures', 'pictures\r')
    await answer('Its album', '\r')
    await answer('Another folder', '\r')
    await answer('[1d]: ', 'soon\r')
    await answer('must be a duration', '')
    await answer('[1d]: ', '7d\r')
    await answer('of many after 7d', '')
    await answer('[none]: ', 'some\r')
    await answer('must be', '')
    await answer('[none]: ', 'location\r')
    expect(await ended).toBe(0)
    expect(out()).not.toContain(stage.key)
    expect(out()).not.toContain('wrong-key')
    expect(loadConfig(config(stage), { HOME: stage.home })).toMatchObject({
      host: { base_url: stage.baseUrl, api_key_file: join(stage.home, 'etc/api-key') },
      mirrors: [{ folder: stage.pictures, album: 'pictures', deletions: 'propagate' }],
      deletions: { grace_many: 7 * 86_400_000 },
      uploads: { strip: 'location' },
    })
  })

  it('asks for the authority of a host with one of its own, and has written nothing where it is broken off', async () => {
    const stage = await setStage({ host: { tls: true } })
    const { answer, out, ended } = atTerminal(stage, 'init --config etc/config.yaml')
    await answer('interface', `${stage.baseUrl}\r`)
    await answer('is not trusted', '')
    await answer('own authority', '~/host/ca.pem\r')
    await answer('The API key (not shown)', '\u0003')
    expect(await ended).toBe(2)
    expect(out()).toContain('Broken off; nothing was written')
    expect(isThere(stage)).toBe(false)
  })
})
