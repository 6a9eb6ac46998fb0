import { describe, expect, it } from 'vitest'
import { describeError } from '../../src/cli/problem.ts'

describe('an error', () => {
  it('has the exit code of its kind, and 1 where it is a bug', () => {
    expect(describeError(Object.assign(new Error('held'), { code: 'LOCKED' }))).toEqual({
      exitCode: 4,
      code: 'LOCKED',
      lines: 'held',
    })
    expect(describeError(new TypeError('x is undefined'))).toMatchObject({ exitCode: 1 })
  })

  it('says what to do where too many files are open, which is none', () => {
    const { exitCode, lines } = describeError(
      Object.assign(new Error('too many, open /s'), { code: 'EMFILE' }),
    )
    expect(exitCode).toBe(1)
    expect(lines).toMatch(/^too many, open \/s; .*ulimit -n/)
  })
})
