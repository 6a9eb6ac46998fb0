import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readOptions, usageOf } from '../../bench/options.ts'

const PARTS = [
  { name: 'scan', about: 'what a look costs' },
  { name: 'upload', about: 'what it takes to send' },
]

describe("the bench's command line", () => {
  it('names parts, or means all', () => {
    expect(readOptions(['upload', '--short'], PARTS)).toMatchObject({ parts: [PARTS[1]], short: true })
    expect(readOptions([], PARTS)).toMatchObject({ parts: PARTS, short: false })
    const long = { name: 'drill', about: 'what takes long', onlyNamed: true } as const
    expect(readOptions([], [...PARTS, long])).toMatchObject({ parts: PARTS })
    expect(readOptions(['drill'], [...PARTS, long])).toMatchObject({ parts: [long] })
  })

  it('makes a relative folder absolute, for programs run elsewhere', () => {
    expect(readOptions(['--cache', 'trees'], PARTS)).toMatchObject({ cache: resolve('trees') })
  })

  it('may ask for help, which tells the parts', () => {
    expect(readOptions(['--help'], PARTS)).toBeNull()
    expect(usageOf(PARTS)).toContain('  scan    what a look costs\n  upload  what it takes to send\n')
  })

  it.each([
    [['--shor'], "Unknown option '--shor'"],
    [['--cache'], "Option '--cache <value>' argument missing"],
    [['--cache='], '--cache needs a folder'],
    [['--cache', '--short'], "Option '--cache' argument is ambiguous"],
    [['--short=yes'], "Option '--short' does not take an argument"],
    [['Scan', 'upload'], 'Scan: no part of the bench; there are scan, upload'],
  ])('refuses %j in one line', (args, words) => {
    expect(() => readOptions(args, PARTS)).toThrow(new Error(words))
  })
})
