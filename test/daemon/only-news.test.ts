import { expect, it } from 'vitest'
import { onlyNews } from '../../src/daemon/report/only-news.ts'
import type { PassEvent } from '../../src/sync/pass-events.ts'

const stopped = (code: string): PassEvent => ({ event: 'uploads_stopped', code, message: 'm' })
const uploaded: PassEvent = { event: 'picture_uploaded', mirror: '/a', path: 'p', size: 1, cdn_url: 'u' }

it('what stops uploads pass after pass is told once, until a picture went or something else stops them', () => {
  const heard: PassEvent[] = []
  const tell = onlyNews(told => heard.push(told))
  const told = [
    stopped('DAILY_LIMIT_REACHED'),
    stopped('DAILY_LIMIT_REACHED'),
    stopped('HOST_UNREACHABLE'),
    stopped('DAILY_LIMIT_REACHED'),
    uploaded,
    stopped('DAILY_LIMIT_REACHED'),
    stopped('DAILY_LIMIT_REACHED'),
  ]
  for (const event of told) tell(event)
  expect(heard).toEqual([told[0], told[2], told[3], uploaded, told[5]])
})

it('that pictures are to be sent is told once while they only wait', () => {
  const heard: PassEvent[] = []
  const tell = onlyNews(told => heard.push(told))
  const started = (bytes: number): PassEvent => ({
    event: 'uploads_started',
    pictures: 1,
    bytes,
    quota_left: 9,
  })
  const waits: PassEvent = { event: 'picture_waits', mirror: '/a', path: 'p', message: 'half' }
  const told = [started(5), waits, started(5), waits, started(6), uploaded, started(6)]
  for (const event of told) tell(event)
  expect(heard).toEqual(told.filter((_, at) => at !== 2))
})
