import { afterAll, describe, expect, it } from 'vitest'
import { localTime, localTimeFrom, printable, sizeInWords, spanInWords } from '../../src/words/text.ts'

const zone = process.env.TZ
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

it.each([
  ['UTC', '2026-11-22 10:18:59 +00:00'],
  ['Asia/Shanghai', '2026-11-22 18:18:59 +08:00'],
  ['Asia/Kolkata', '2026-11-22 15:48:59 +05:30'],
  ['America/St_Johns', '2026-11-22 06:48:59 -03:30'],
])('a time in the time zone %s', (zone, shown) => {
  process.env.TZ = zone
  expect(localTime('2026-11-22T10:18:59.789Z')).toBe(shown)
  expect(localTime(Date.parse('2026-11-22T10:18:59.789Z'))).toBe(shown)
})

it('a time from which something is so is no earlier in whole seconds', () => {
  process.env.TZ = 'UTC'
  expect(localTimeFrom('2026-11-22T10:18:59.001Z')).toBe('2026-11-22 10:19:00 +00:00')
  expect(localTimeFrom('2026-11-22T10:18:59.000Z')).toBe('2026-11-22 10:18:59 +00:00')
})

describe('what is printed', () => {
  it('can neither move the cursor nor forge a line', () => {
    expect(printable('a\nb\u001b[2Jc\u202ed')).toBe('a\\u000ab\\u001b[2Jc\\u202ed')
    expect(printable('Früh 😀.png')).toBe('Früh 😀.png')
  })

  it('gives sizes and spans as people read them', () => {
    expect([0, 1536].map(sizeInWords)).toEqual(['0 B', '1.5 KB'])
    expect([0, 80, 800, 8000, 800_000].map(seconds => spanInWords(seconds * 1000))).toEqual([
      '0 s',
      '80 s',
      '13 min',
      '2 h',
      '9 days',
    ])
  })
})
