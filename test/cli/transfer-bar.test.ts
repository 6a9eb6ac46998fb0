import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { barText } from '../../src/cli/terminal/transfer-bar.ts'

const half = { total: 62, done: 31, bytes: 310_000, quota: 4969, seconds: 10 }

it('shows how far it is, rate, time left and quota left', () => {
  expect(barText(half, 120)).toMatch(
    /^█{15}░{15} 31 of 62 pictures {2}302\.7 KB, 30\.3 KB\/s {2}10 s left {2}quota left 4,969$/,
  )
  expect(barText({ ...half, quota: null }, 120)).not.toContain('quota')
  expect(barText({ ...half, done: 0 }, 120)).not.toContain(' s left')
})

it.each([120, 80, 60, 40, 24])('fits on one line of a terminal of %i columns', columns => {
  const text = barText(half, columns)
  expect(stringWidth(text)).toBeLessThan(columns)
  expect(text).toContain('31 of 62 pictures')
  if (columns >= 60) expect(text).toContain('quota left 4,969')
  if (columns >= 40) expect(text).toContain('10 s left')
})

it('never counts more than there is', () => {
  expect(barText({ ...half, done: 63 }, 120)).toMatch(/^█{30} 62 of 62 pictures/)
})
