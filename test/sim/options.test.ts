import { describe, expect, it } from 'vitest'
import { readOptions } from './options.ts'

describe("the simulation's command line", () => {
  it('gives what is not said', () => {
    expect(readOptions(['--seeds', '5', '--workers', '0'])).toEqual({
      seeds: 5,
      from: 600_000_000,
      seed: null,
      workers: 1,
      reach: false,
      exhaust: false,
    })
  })

  it('may ask for help', () => {
    expect(readOptions(['--seeds', '5', '--help'])).toBeNull()
  })

  it.each([
    [['--sed', '5'], "Unknown option '--sed'"],
    [['5'], "Unexpected argument '5'"],
    [['--seed'], "Option '--seed <value>' argument missing"],
    [['--seed', '--from'], "Option '--seed' argument is ambiguous"],
    [['--seeds', 'many'], '--seeds must be a whole number: many'],
    [['--seeds='], '--seeds must be a whole number: '],
  ])('refuses %j in one line', (args, words) => {
    expect(() => readOptions(args)).toThrow(new Error(words))
  })
})
