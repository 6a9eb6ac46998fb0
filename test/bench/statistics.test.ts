import { describe, expect, it } from 'vitest'
import { median, percentile, ratioOf, spreadOf } from '../../bench/measure/statistics.ts'

describe("the bench's statistics", () => {
  it.each([
    [[3], 3],
    [[1, 4], 2.5],
    [[9, 1, 2], 2],
    [[10, 1, 4, 2], 3],
  ])('take of %j the middle, or the mean of the two in the middle', (values, middle) => {
    expect(median(values)).toBe(middle)
  })

  it('take the ratio of each round, and not that of the middles', () => {
    expect(ratioOf([2, 6], [1, 2])).toBe(2.5)
    expect(spreadOf([2, 6, 5], [1, 2, 2])).toEqual([2, 3])
    expect(spreadOf([2], [1])).toBeNull()
  })

  it('take for p99 a value that was measured', () => {
    expect(percentile([1, 2, 3, 4], 99)).toBe(4)
    expect(percentile([...Array(200).keys()], 99)).toBe(197)
  })

  it('refuse to take anything from nothing', () => {
    expect(() => median([])).toThrow('no values')
    expect(() => percentile([], 99)).toThrow('no values')
  })
})
