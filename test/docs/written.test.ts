import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { declaredCommands } from '../../scripts/docs/declared.ts'
import { writtenFiles } from '../../scripts/docs/written-files.ts'
import { setStage } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { CHECKOUT } from './pages.ts'

const files = await writtenFiles()
const manuals = Object.keys(files).filter(path => path.startsWith('man/'))

it.each(Object.entries(files))('%s is what `npm run docs` writes', (path, text) => {
  expect(readFileSync(join(CHECKOUT, path), 'utf8')).toBe(text)
})

describe('docs/reference', () => {
  it('says of every option and every operand what it is for', () => {
    const lines = files['docs/reference/commands.md']!.split('\n')
    const said = lines.filter(line => /^- `[^`]+`: /.test(line))
    expect(said.length).toBeGreaterThan(40)
    expect(said.filter(line => /: *$/.test(line))).toEqual([])
  })

  it('names the fields of the events of a pass and of the daemon', () => {
    const lines = files['docs/reference/log-events.md']!.split('\n')
    const bare = lines.filter(line => /^\| `\w+` .*\| *\|$/.test(line)).map(line => /`(\w+)`/.exec(line)?.[1])
    const OF_THE_PROCESS = ['warning', 'stopping', 'stopped']
    const OF_DAEMON = ['config_taken', 'key_taken', 'heartbeat_works', 'store_answers', 'albumd_works_again']
    const WITHOUT = [...OF_DAEMON, 'trouble_resolved']
    expect(bare).toEqual([...OF_THE_PROCESS, ...WITHOUT])
  })
})

describe('docs/reference/json.md', () => {
  const text = files['docs/reference/json.md']!
  const words = new Set(text.match(/\w+/g))

  it('tells of every command that writes JSON', async () => {
    const all = (await declaredCommands()).flatMap(each => [each, ...each.commands])
    const writing = all
      .filter(({ options }) => options.some(([name]) => name === 'json'))
      .map(({ name }) => name)
    const told = [...text.matchAll(/^## (.*)$/gm)].flatMap(([, names]) => names!.split(', '))
    expect(writing.filter(name => !told.includes(name))).toEqual([])
  })

  it('names every field that they write', async () => {
    const pictures = { 'Holiday/Beach.png': png().bytes, 'Holiday/Gone.png': png().bytes }
    const stage = await setStage({ pictures, config: { deletions: { hold_above: '0%', hold_min: 0 } } })
    stage.write('note.txt', 'no picture')
    stage.write('New.png', png().bytes)
    rmSync(join(stage.pictures, 'Holiday/Gone.png'))
    const unnamed: string[] = []
    for (const [command, ...args] of [
      ['sync', '--dry-run'],
      ['sync'],
      ['put', join(stage.pictures, 'New.png')],
      ['deletions', 'list'],
      ['status'],
      ['ls', 'Holiday'],
      ['ls', '--left-out'],
      ['why', 'Holiday/Beach.png'],
      ['why', 'Holiday/Gone.png'],
      ['audit'],
      ['trust', stage.pictures],
      ['pause', '--for', '1h'],
      ['retry'],
      ['resume'],
      ['adopt'],
      ['restore', join(stage.home, 'restored')],
      ['backup', join(stage.home, 'copy.db')],
      ['doctor'],
    ] as [string, ...string[]][]) {
      const told = await stage.json(command, ...args)
      const fields = namesIn(told)
      expect(fields.length).toBeGreaterThan(0)
      unnamed.push(...fields.filter(name => !words.has(name)).map(name => `${command} ${args[0]}: ${name}`))
    }
    expect(unnamed).toEqual([])
  })
})

/** The names of all fields. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, below]) => [name, ...namesIn(below)])
}

const run = (program: string, ...args: string[]) =>
  spawnSync(program, args, { cwd: CHECKOUT, encoding: 'utf8', env: { ...process.env, MANWIDTH: '80' } })
const has = (program: string) => run(program, '/dev/null').error === undefined

describe('the manuals', () => {
  it('are three', () => {
    expect(manuals).toEqual(['man/albumd.1', 'man/albumd-config.5', 'man/albumd.service.8'])
  })

  it.skipIf(!has('mandoc') && !process.env.CI).each(manuals)('%s is without a fault for mandoc', path => {
    const { stdout } = run('mandoc', '-T', 'lint', '-W', 'warning', path)
    // A date would make another manual of the same sources.
    expect(stdout.split('\n').filter(line => line && !line.includes('missing date'))).toEqual([])
  })

  it.skipIf(!has('man') && !process.env.CI).each(manuals)('%s is shown by man', path => {
    const { stdout, stderr } = run('man', '--warnings', '-l', path)
    expect(stderr).toBe('')
    expect(stdout.replace(/.\u0008/g, '')).toMatch(/^NAME\n +albumd/m)
  })
})
