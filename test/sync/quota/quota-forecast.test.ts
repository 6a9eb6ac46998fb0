import { expect, it } from 'vitest'
import { rateOf } from '../../../src/sync/quota/quota-state.ts'

it('the pace is measured over what tells something', () => {
  expect(rateOf(3, 1000, null)).toBeNull()
  expect(rateOf(100, 0, null)).toBeNull()
  expect(rateOf(100, 10_000, null)).toBe(10)
  expect(rateOf(100, 10_000, 20)).toBe(15)
})
