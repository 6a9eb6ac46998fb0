import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { adoptionInWords, barText, eventInWords } from '../../src/cli/terminal/progress.ts'

const half = {
  noun: 'picture',
  total: 62,
  before: 0,
  done: 31,
  bytes: 310_000,
  quota: 4969,
  seconds: 10,
} as const

it('shows how far it is, rate, time left and quota left', () => {
  expect(barText(half, 120)).toMatch(
    /^█{15}░{15} 31 of 62 pictures {2}302\.7 KB, 30\.3 KB\/s {2}10 s left {2}quota left 4,969$/,
  )
  expect(barText({ ...half, quota: null }, 120)).not.toContain('quota')
  expect(barText({ ...half, done: 0 }, 120)).not.toContain(' s left')
  // 22 of 31 may be sent today.
  expect(barText({ ...half, quota: 22 }, 120)).toContain('  8 s left today  quota left 22')
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

it('counts the albums of an audit that goes on, and how long the rest of them takes', () => {
  const audit = { ...half, noun: 'album', before: 26, bytes: null, quota: null } as const
  expect(barText(audit, 120)).toMatch(/^█{15}░{15} 31 of 62 albums {2}62 s left$/)
})

it('does not pass its own count of the quota for what the host would say', () => {
  const started = {
    event: 'uploads_started',
    compare: 0,
    quota_left: 4969,
    looks_first: false,
  } as const
  const told = { ...started, pictures: 2, bytes: 2048 }
  expect(eventInWords(told)).toBe("2 pictures to send (2 KB); quota left 4,969 by albumd's count")
  expect(eventInWords({ ...told, pictures: 5000 })).toMatch(
    /quota left 4,969 by albumd's count, so 31 may have to wait for another day$/,
  )
})

it('does not call pictures sent before albumd has looked at what the host holds', () => {
  const told = {
    event: 'uploads_started',
    pictures: 53,
    bytes: 2048,
    compare: 0,
    quota_left: 5000,
    looks_first: true,
  } as const
  expect(eventInWords(told)).toBe("53 pictures to compare or send (2 KB); quota left 5,000 by albumd's count")
})

it('does not say that pictures are sent which are only compared', () => {
  const told = {
    event: 'uploads_started',
    quota_left: 9,
    looks_first: false,
    pictures: 0,
    bytes: 0,
    compare: 3,
  } as const
  expect(eventInWords(told)).toBe('3 pictures to read again, sent only if needed')
  expect(adoptionInWords(told)).toBe('3 pictures to look for on the host; nothing is sent')
  expect(eventInWords({ ...told, pictures: 1, bytes: 2048 })).toBe(
    "1 picture to send (2 KB), 3 pictures to read again, sent only if needed; quota left 9 by albumd's count",
  )
})
