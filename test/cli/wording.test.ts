import { describe, expect, it } from 'vitest'
import { describeError } from '../../src/cli/words/problem.ts'
import { eventInWords, printable, sizeInWords } from '../../src/cli/words/wording.ts'

describe('what is printed', () => {
  it('can neither move the cursor nor forge a line', () => {
    expect(printable('a\nb\u001b[2Jc\u202ed')).toBe('a\\u000ab\\u001b[2Jc\\u202ed')
    expect(printable('Früh 😀.png')).toBe('Früh 😀.png')
  })

  it('does not pass its own count of the quota for what the host would say', () => {
    const told = { event: 'uploads_started', pictures: 2, bytes: 2048, quota_left: 4969 } as const
    expect(eventInWords(told)).toBe(
      "2 pictures to compare or send (2 KB); quota left 4,969 by albumd's count",
    )
  })

  it('gives sizes as people read them', () => {
    expect(sizeInWords(1536)).toBe('1.5 KB')
    expect(sizeInWords(0)).toBe('0 B')
  })
})

describe('an error', () => {
  it('has the exit code of its kind, and 1 where it is a bug', () => {
    expect(describeError(Object.assign(new Error('held'), { code: 'LOCKED' }))).toEqual({
      exitCode: 4,
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
