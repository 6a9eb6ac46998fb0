import { expect, it } from 'vitest'
import { markOperands, unmarkOperands } from '../../src/cli/arguments.ts'

it('what stands after the first -- is marked, whatever it looks like, and comes back as it was', () => {
  const marked = markOperands(['deletions', 'approve', '-c', 'a.yaml', '--', '-rf.png', '--', ''])
  expect(marked).toHaveLength(7)
  expect(marked.some(arg => arg.startsWith('-r') || arg === '--')).toBe(false)
  const parsed: Record<string, unknown> = { path: marked[4], _: marked.slice(5), json: false }
  unmarkOperands(parsed)
  expect(parsed).toEqual({ path: '-rf.png', _: ['--', ''], json: false })
})

it('a line without -- stays as it is', () => {
  expect(markOperands(['sync', '-c', 'a.yaml'])).toEqual(['sync', '-c', 'a.yaml'])
})
