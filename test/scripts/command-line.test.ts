import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { benchOf } from '../../bench/options.ts'
import { helpOf, readCommandLine } from '../../scripts/command-line.ts'
import { SIM } from '../sim/options.ts'

const { operands: _, ...WITHOUT_OPERANDS } = SIM
const BENCH = benchOf([
  { name: 'scan', about: 'what a look costs' },
  { name: 'upload', about: 'what it takes to send' },
])

describe('a command line', () => {
  it('gives what is not said', () => {
    expect(readCommandLine(SIM, ['--seeds', '5', '--workers', '1'])!.values).toEqual({
      seeds: 5,
      from: 600_000_000,
      seed: null,
      workers: 1,
      reach: false,
      exhaust: false,
    })
  })

  it('may name operands beside options, of which a folder becomes absolute', () => {
    const { values, operands } = readCommandLine(BENCH, ['upload', '--short', '--cache', 'trees'])!
    expect({ values, operands }).toEqual({
      values: { short: true, cache: resolve('trees') },
      operands: ['upload'],
    })
  })

  it('may ask for help, which lists operands and options', () => {
    expect(readCommandLine(SIM, ['--seeds', '5', '--help'])).toBeNull()
    expect(helpOf(SIM)).toContain('\n  --seeds N    so many histories (1000)\n')
    expect(helpOf(BENCH)).toContain('  scan    what a look costs\n  upload  what it takes to send\n')
  })

  it.each([
    [SIM, '--sed 5', "Unknown option '--sed'"],
    [WITHOUT_OPERANDS, '5', "Unexpected argument '5'"],
    [SIM, '--seed', "Option '--seed <value>' argument missing"],
    [SIM, '--seed --from', "Option '--seed' argument is ambiguous"],
    [SIM, '--seeds many', '--seeds must be a whole number: many'],
    [SIM, '--seeds=', '--seeds must be a whole number: '],
    [SIM, '--seeds=-1', '--seeds must be a whole number: -1'],
    [SIM, '--seeds 0', '--seeds must be at least 1: 0'],
    [SIM, '--workers 0', '--workers must be at least 1: 0'],
    [SIM, '--seeds 30 --exhaust', '--seeds means nothing beside --exhaust'],
    [SIM, '--seed 1 --seeds 30', '--seeds means nothing beside --seed'],
    [BENCH, '--shor', "Unknown option '--shor'"],
    [BENCH, '--cache', "Option '--cache <value>' argument missing"],
    [BENCH, '--cache=', '--cache needs a folder'],
    [BENCH, '--cache --short', "Option '--cache' argument is ambiguous"],
    [BENCH, '--short=yes', "Option '--short' does not take an argument"],
    [BENCH, 'Scan upload', 'Scan: no part of the bench; there are scan, upload'],
  ])('$name refuses %s in one line', (command, line, words) => {
    expect(() => readCommandLine(command, line.split(' '))).toThrow(new Error(words))
  })

  it('lacks the -- before an option that npm took', () => {
    const seeds = () => readCommandLine(SIM, ['30'], { npm_config_cache: '/npm', npm_config_seeds: 'true' })
    expect(seeds).toThrow(new Error('npm took --seeds: a -- is missing before it: npm run sim -- --seeds'))
  })
})
