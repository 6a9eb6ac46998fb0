import { describe, expect, it, onTestFinished } from 'vitest'
import { parseMoment } from '../../src/cli/moment.ts'

const NOW = Date.parse('2026-11-24T12:00:00Z')
const read = (text: string) => new Date(parseMoment('--at', text, NOW)).toISOString()

/** The tests' time zone is another one while a test runs. */
function inZone(zone: string): void {
  const before = process.env.TZ
  process.env.TZ = zone
  onTestFinished(() => {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  })
}

describe('a time that a person writes', () => {
  it('is so long ago, or a date with or without a time of day, here or in another zone', () => {
    inZone('Asia/Shanghai')
    expect(read('2d')).toBe('2026-11-22T12:00:00.000Z')
    expect(read('90m')).toBe('2026-11-24T10:30:00.000Z')
    expect(read('2w')).toBe('2026-11-10T12:00:00.000Z')
    expect(read('1h30m')).toBe('2026-11-24T10:30:00.000Z')
    expect(read('2026-11-20')).toBe('2026-11-19T16:00:00.000Z')
    expect(read('2026-11-20 18:00')).toBe('2026-11-20T10:00:00.000Z')
    expect(read(' 2026-11-20T18:00:05 ')).toBe('2026-11-20T10:00:05.000Z')
    expect(read('2026-11-20T18:00:05.25Z')).toBe('2026-11-20T18:00:05.250Z')
    expect(read('2026-11-20T18:00:05,123456Z')).toBe('2026-11-20T18:00:05.123Z')
    expect(read('2026-11-20 18:00 -0330')).toBe('2026-11-20T21:30:00.000Z')
    expect(read('2026-11-20T18:00+08')).toBe('2026-11-20T10:00:00.000Z')
  })

  it('is the last time that it was so late', () => {
    inZone('Asia/Shanghai')
    expect(read('18:00')).toBe('2026-11-24T10:00:00.000Z')
    expect(read('20:00')).toBe('2026-11-24T12:00:00.000Z')
    expect(read('20:00:01')).toBe('2026-11-23T12:00:01.000Z')
    expect(read('9:05')).toBe('2026-11-24T01:05:00.000Z')
    inZone('Europe/Berlin')
    const afterShortDay = Date.parse('2026-03-29T22:30:00Z')
    expect(parseMoment('--at', '18:00', afterShortDay)).toBe(Date.parse('2026-03-29T16:00:00Z'))
  })

  it('is as long after it in an hour that the clocks skip', () => {
    inZone('Europe/Berlin')
    expect(read('2026-03-29 01:30')).toBe('2026-03-29T00:30:00.000Z')
    expect(read('2026-03-29 02:30')).toBe('2026-03-29T01:30:00.000Z')
    expect(read('2026-03-29 03:30')).toBe('2026-03-29T01:30:00.000Z')
  })

  it('may be a date whose midnight the clocks skip', () => {
    inZone('Africa/Cairo')
    expect(read('2026-04-24')).toBe('2026-04-23T22:00:00.000Z')
  })

  it.each([
    ['2026-02-29', 'is no time'],
    ['2026-11-31 10:00', 'is no time'],
    ['2026-11-20 24:00', 'is no time'],
    ['2026-11-20 10:60', 'is no time'],
    ['2026-11-20 18:00 +99:99', 'is no time'],
    ['2026-11-20 18:00 +15:00', 'is no time'],
    ['2026-11-20 18:00 -00:60', 'is no time'],
    ['20.11.2026', 'is no time'],
    ['2', 'is no time'],
    ['', "--at '' is no time"],
    ['0001-01-01', 'is no time'],
    ['9999999999999999d', 'is no time'],
    ['24:00', '1h30m, 2d, 2w'],
    ['18', 'is no time'],
    ['18:00Z', 'is no time'],
    ['1y', '"2026-11-20 18:00"'],
    ['2026-11-24T12:00:01Z', 'has not come yet'],
  ])('is refused as %s', (text, why) => {
    expect(() => parseMoment('--at', text, NOW)).toThrow(why)
  })
})
