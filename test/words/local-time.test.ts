import { afterAll, expect, it } from 'vitest'
import { localTime } from '../../src/words/local-time.ts'

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
