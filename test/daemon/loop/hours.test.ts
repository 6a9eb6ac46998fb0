import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isOpen, nextBorder, uploadsWaitUntil } from '../../../src/daemon/report/upload-hours.ts'

const zone = process.env.TZ
beforeAll(() => {
  process.env.TZ = 'Europe/Berlin'
})
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

const at = (text: string) => new Date(text).getTime()
const hours = (from: string, to: string) => {
  const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
  return { from: minutes(from), to: minutes(to) }
}

describe('the hours for uploads', () => {
  it.each([
    ['22:00', '07:00', '2026-11-21T21:59:59', false],
    ['22:00', '07:00', '2026-11-21T22:00:00', true],
    ['22:00', '07:00', '2026-11-22T00:00:00', true],
    ['22:00', '07:00', '2026-11-22T06:59:59', true],
    ['22:00', '07:00', '2026-11-22T07:00:00', false],
    ['09:00', '17:00', '2026-11-22T09:00:00', true],
    ['09:00', '17:00', '2026-11-22T17:00:00', false],
    ['00:00', '06:00', '2026-11-22T00:00:00', true],
  ])('%s-%s at %s: open is %s', (from, to, time, open) => {
    expect(isOpen(hours(from, to), at(time))).toBe(open)
  })

  it.each([
    ['22:00', '07:00', '2026-11-21T12:34:56', '2026-11-21T22:00:00'],
    ['22:00', '07:00', '2026-11-21T22:00:00', '2026-11-22T07:00:00'],
    ['22:00', '07:00', '2026-11-22T07:00:00', '2026-11-22T22:00:00'],
    // The clocks go forward from 02:00 to 03:00, so 02:30 does not exist.
    ['02:30', '07:00', '2026-03-29T00:00:00', '2026-03-29T03:00:00'],
    // The hours lie wholly in the time that does not exist on that day.
    ['02:00', '03:00', '2026-03-29T00:00:00', '2026-03-30T02:00:00'],
    // The clocks go back from 03:00 to 02:00, so 02:30 comes twice, and the hours end and begin again.
    ['22:00', '02:30', '2026-10-25T00:00:00', '2026-10-25T02:30:00+02:00'],
    ['22:00', '02:30', '2026-10-25T02:30:00+02:00', '2026-10-25T02:00:00+01:00'],
    ['22:00', '02:30', '2026-10-25T02:00:00+01:00', '2026-10-25T02:30:00+01:00'],
  ])('%s-%s after %s: the next border is %s', (from, to, time, border) => {
    expect(nextBorder(hours(from, to), at(time))).toBe(at(border))
  })

  it('say until when uploads wait, and null while they may go', () => {
    expect(uploadsWaitUntil(hours('22:00', '07:00'), at('2026-11-21T12:00:00'))).toBe(
      at('2026-11-21T22:00:00'),
    )
    expect(uploadsWaitUntil(hours('22:00', '07:00'), at('2026-11-21T23:00:00'))).toBeNull()
    expect(uploadsWaitUntil(undefined, 0)).toBeNull()
  })
})
