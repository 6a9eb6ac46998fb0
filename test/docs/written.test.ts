import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writtenFiles } from '../../scripts/docs/written-files.ts'
import { CHECKOUT } from './pages.ts'

const files = await writtenFiles()
const manuals = Object.keys(files).filter(path => path.startsWith('man/'))

it.each(Object.entries(files))('%s is what `npm run docs` writes', (path, text) => {
  expect(readFileSync(join(CHECKOUT, path), 'utf8')).toBe(text)
})

describe('docs/reference', () => {
  it('says of every option and every operand what it is for', () => {
    const lines = files['docs/reference/commands.md']!.split('\n')
    expect(lines.filter(line => /^\| `[^`]+` \| *\|$/.test(line))).toEqual([])
  })

  it('names the fields of the events of a pass and of the daemon', () => {
    const lines = files['docs/reference/log-events.md']!.split('\n')
    const bare = lines.filter(line => /^\| `\w+` .*\| *\|$/.test(line)).map(line => /`(\w+)`/.exec(line)?.[1])
    const OF_THE_PROCESS = ['warning', 'stopping', 'stopped']
    const WITHOUT = ['config_taken', 'key_taken', 'heartbeat_works', 'trouble_resolved']
    expect(bare).toEqual([...OF_THE_PROCESS, ...WITHOUT])
  })
})

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

  it.skipIf(!has('man')).each(manuals)('%s is shown by man', path => {
    const { stdout, stderr } = run('man', '--warnings', '-l', path)
    expect(stderr).toBe('')
    expect(stdout.replace(/.\u0008/g, '')).toMatch(/^NAME\n +albumd/m)
  })
})
