import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { servicePlace, unitText } from '../../src/cli/service/place.ts'
import { canMount, mountSmallDisk } from '../e2e/disk/small-disk.ts'
import { PROGRAM, runFile, runProgram } from '../e2e/stage/stage.ts'
import { tempFolder } from '../temp-folder.ts'
import { refusalOf } from './refusal.ts'

const ENV = { HOME: '/home/anna' }
const one = servicePlace(false, null, ENV)
const several = servicePlace(false, 'work', ENV)
const own = servicePlace(true, null, ENV)
const noAnalyze = spawnSync('systemd-analyze', ['--version']).status !== 0

/** The lines that are no comments. */
const settings = (template: string) =>
  readFileSync(template, 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))

describe('a unit', () => {
  it('runs this albumd, whatever its path holds', () => {
    const run = (...program: string[]) =>
      unitText(one.template, program)
        .split('\n')
        .find(line => line.startsWith('ExecStart='))
    expect(run('/usr/bin/node', '/usr/bin/albumd')).toBe(
      'ExecStart=/usr/bin/node /usr/bin/albumd run --config /etc/albumd/config.yaml',
    )
    expect(run('/opt/my node', '/o%n/$a/"b"\\albumd.js')).toBe(
      'ExecStart="/opt/my node" "/o%%n/$$a/\\"b\\"\\\\albumd.js" run --config /etc/albumd/config.yaml',
    )
  })

  it('for one account of several differs in its places alone', () => {
    const placed = settings(several.template).map(line =>
      line.replace('/etc/albumd/%i/', '/etc/albumd/').replace('=albumd/%i', '=albumd').replace(' (%i)', ''),
    )
    expect(placed).toEqual(settings(one.template))
  })

  it('of one’s own is kept up like that of the machine', () => {
    const kept =
      /^(Type|NotifyAccess|ExecReload|Watchdog|LimitCORE|Restart|Timeout|UMask|StartLimit|NoNew|SystemCall)/
    const of = (template: string) => settings(template).filter(line => kept.test(line))
    expect(of(own.template)).toEqual(of(one.template))
  })

  it('takes config, key and state from where the commands look', () => {
    expect(several).toMatchObject({
      config: '/etc/albumd/work/config.yaml',
      stateDir: '/var/lib/albumd/work',
    })
    expect(own).toMatchObject({
      file: '/home/anna/.config/systemd/user/albumd.service',
      config: '/home/anna/.config/albumd/config.yaml',
    })
    for (const { template, config, key } of [one, several, own]) {
      const text = settings(template)
        .join('\n')
        .replaceAll('%i', 'work')
        .replaceAll('%E', '/home/anna/.config')
      expect(text).toContain(`--config ${config}`)
      expect(text).toContain(`LoadCredential=api-key:${key}`)
    }
  })
})

describe.skipIf(noAnalyze && !process.env.CI)('systemd-analyze', () => {
  /** As installed for a program that every machine has. */
  function written(): string[] {
    const folder = tempFolder()
    return [one, several].map(({ template, unit }) => {
      const file = join(folder, unit)
      writeFileSync(file, unitText(template, ['/bin/sh']))
      return file
    })
  }

  it('finds the machine’s units exposed by 1.5 of 10 at most', () => {
    for (const file of written()) {
      const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', file], {
        encoding: 'utf8',
      })
      const [, exposed] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
      expect(Number(exposed)).toBeLessThanOrEqual(1.5)
    }
  })

  it('understands them', () => {
    for (const file of written()) {
      const { stderr } = spawnSync('systemd-analyze', ['verify', '--recursive-errors=no', file], {
        encoding: 'utf8',
      })
      const minded = stderr.split('\n').filter(line => line.includes(file))
      expect(minded).toEqual([])
    }
  })
})

describe('service', () => {
  it.each([
    [['service'], 'install, uninstall or status'],
    [['service', 'install', '--account', '../x'], '--account ../x'],
    [['service', 'status', '--user', '--account', 'work'], '--user'],
  ])('%j is refused with what would be right', async (args, named) => {
    const { exitCode, lines } = await refusalOf(args)
    expect([exitCode, lines.split('\n').length], lines).toEqual([2, 1])
    expect(lines).toContain(named)
  })

  it('says so where there is no systemd, and changes nothing', async () => {
    const home = tempFolder()
    const env = { HOME: home, XDG_CONFIG_HOME: '', PATH: '/nowhere' }
    const { code, out, err } = await runProgram(['service', 'install', '--user'], home, env)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^albumd: There is no systemd here\. .*\n$/)
    expect(() => readFileSync(join(home, '.config/systemd/user/albumd.service'))).toThrow('ENOENT')
  })
})

// An empty /run hides the systemd of a machine that has one. Where CI runs, mounts are possible.
it.skipIf(!canMount() && !process.env.CI)('a machine without systemd is told in one line', async () => {
  const [enter, ...entering] = (await mountSmallDisk('/run', '1m')).through
  for (const args of [['install', '--user'], ['status', '--user'], ['status']])
    expect(
      await runFile(enter!, [...entering, process.execPath, PROGRAM, 'service', ...args], tempFolder()),
    ).toEqual({
      code: 2,
      out: '',
      err: 'albumd: systemd has not started this machine. Have "albumd run" started by what starts services here\n',
    })
})
