import { describe, expect, it } from 'vitest'
import { pathArgument } from '../../src/cli/options.ts'
import { markOperands, unmarkOperands, usageProblem } from '../../src/cli/with-yargs.ts'
import { refusalOf } from './refusal.ts'

describe('operands', () => {
  it('are marked behind the first --, whatever they look like, and come back as they were', () => {
    const marked = markOperands(['deletions', 'approve', '-c', 'a.yaml', '--', '-rf.png', '--', ''])
    expect(marked).toHaveLength(7)
    expect(marked.some(arg => arg.startsWith('-r') || arg === '--')).toBe(false)
    const parsed: Record<string, unknown> = { path: marked[4], _: marked.slice(5), json: false }
    unmarkOperands(parsed)
    expect(parsed).toEqual({ path: '-rf.png', _: ['--', ''], json: false })
  })

  it('without -- stay as they are, but for a lone dash, which yargs would drop', () => {
    expect(markOperands(['sync', '-c', 'a.yaml'])).toEqual(['sync', '-c', 'a.yaml'])
    const parsed = { paths: markOperands(['sync', '-', 'a']).slice(1) }
    unmarkOperands(parsed)
    expect(parsed).toEqual({ paths: ['-', 'a'] })
  })
})

describe('a usage problem', () => {
  const OPTIONS = ['config', 'c', 'dry-run', 'json']
  const said = (message: string, ...[command = '', ...args]: string[]) =>
    usageProblem(message, [command, ...args], {
      commands: command === 'sync' ? ['sync'] : [],
      options: OPTIONS,
    }).message

  it('names the command that was likely meant, and leaves its options for later', () => {
    const status = 'There is no command statsu; did you mean status? See albumd --help.'
    expect(said('Unknown argument: statsu', 'statsu')).toBe(status)
    expect(said('Unknown arguments: json, statsu', 'statsu', '--json')).toBe(status)
    expect(said('Unknown argument: accept', 'accept', 'x')).toMatch(/ accept any more: .*ignore/)
    expect(said('Unknown argument: x\ny', 'x\ny')).toBe('There is no command x y. See albumd --help.')
  })
})

it.each([
  [['restore', 'x', '--at', '2026-11-20', '18:00'], 'Unknown argument: 18:00. See albumd restore --help.'],
  [['ls', '--formt', 'json'], 'Unknown argument: formt; did you mean --format? See albumd ls --help.'],
  [['sync', 'a', '--foo', 'bar'], 'Unknown argument: foo'],
  [['status', '-c', 'a', '-c', 'b'], '--config is given more than once'],
  [['ls', '--format', 'json', '--format', 'csv'], '--format is given more than once'],
  [['--log-level', 'debug', 'status', '--log-level', 'info'], '--log-level is given more than once'],
  // They would be a sync in earnest.
  [['sync', '--dry-run=yes'], '--dry-run=yes takes no value. Use --dry-run'],
  [['sync', '--dry-run='], '--dry-run= takes no value. Use --dry-run'],
  [['url'], 'Usage: albumd url <file>. See albumd url --help.'],
  [['deletions'], 'Usage: albumd deletions <action> [path]. See albumd deletions --help.'],
  [['put', '-x.png'], 'See albumd put --help.'],
  [['move-mirror', 'a'], 'See albumd move-mirror --help.'],
  [['deletions', 'show'], 'Given: "show", Choices: "list", "approve", "discard"'],
  [['sync', '-c'], 'See albumd sync --help.'],
  [['service', 'install', '--bogus'], 'Unknown argument: bogus. See albumd service install --help.'],
  [['service', 'bogus'], 'Unknown argument: bogus. See albumd service --help.'],
])('%j is refused in one line', async (args, said) => {
  const { exitCode, lines } = await refusalOf(args)
  expect([exitCode, lines.split('\n').length]).toEqual([2, 1])
  expect(lines).toContain(said)
})

it('an empty path is refused in words that fit a command with a path that must be given', () => {
  expect(() => pathArgument('')).toThrow(
    'The path is empty. Name a path; a shell variable in its place may not be set',
  )
})
