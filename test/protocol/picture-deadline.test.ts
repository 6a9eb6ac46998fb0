import { expect, test } from 'vitest'
import { withinDeadline } from '../../src/protocol/picture/deadline.ts'

const OVER = expect.objectContaining({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })

test('a function that never ends is ended by its deadline', () => {
  const endless = () => {
    for (;;);
  }
  expect(() => withinDeadline(50, endless)).toThrow(OVER)
})

test('a regular expression that backtracks without end is ended by its deadline', () => {
  const backtracking = () => /^(a+)+$/.test(`${'a'.repeat(80)}!`)
  expect(() => withinDeadline(50, backtracking)).toThrow(OVER)
})

test('what ends in time returns its value and throws its error, also after another was ended', () => {
  const thrown = new RangeError('beyond the end')
  expect(withinDeadline(10_000, () => 42)).toBe(42)
  expect(() =>
    withinDeadline(10_000, () => {
      throw thrown
    }),
  ).toThrow(thrown)
})
