import { expect, it } from 'vitest'
import { Bus, newsFilter } from '../../src/daemon/events.ts'
import type { SpokenEvent } from '../../src/sync/pass-events.ts'

const stopped = (code: string): SpokenEvent => ({ event: 'uploads_stopped', code, message: 'm' })
const uploaded: SpokenEvent = { event: 'picture_uploaded', mirror: '/a', path: 'p', size: 1, cdn_url: 'u' }

it('a reason that stops uploads in every pass is news once, until a picture is uploaded or the reason changes', () => {
  const isNews = newsFilter()
  const told = [
    stopped('DAILY_LIMIT_REACHED'),
    stopped('DAILY_LIMIT_REACHED'),
    stopped('HOST_UNREACHABLE'),
    stopped('DAILY_LIMIT_REACHED'),
    uploaded,
    stopped('DAILY_LIMIT_REACHED'),
    stopped('DAILY_LIMIT_REACHED'),
  ]
  expect(told.filter(isNews)).toEqual([told[0], told[2], told[3], uploaded, told[5]])
})

it('the start of uploads is news once while the same pictures wait', () => {
  const isNews = newsFilter()
  const started = (bytes: number): SpokenEvent => ({
    event: 'uploads_started',
    pictures: 1,
    bytes,
    compare: 0,
    quota_left: 9,
    looks_first: false,
  })
  const waits: SpokenEvent = { event: 'picture_waits', mirror: '/a', path: 'p', message: 'half' }
  const told = [started(5), waits, started(5), waits, started(6), uploaded, started(6)]
  expect(told.filter(isNews)).toEqual(told.filter((_, at) => at !== 2 && at !== 4))
})

it('why a mirror is guarded is news once, until a scan saw everything or the reason changes', () => {
  const isNews = newsFilter()
  const guarded = (mirror: string, reason: string): SpokenEvent => ({
    event: 'mirror_guarded',
    mirror,
    reason,
  })
  const scanned = (complete: boolean): SpokenEvent => ({
    event: 'scan_finished',
    mirror: '/a',
    folders: 1,
    files: 1,
    complete,
  })
  const told = [
    guarded('/a', 'x'),
    guarded('/b', 'x'),
    scanned(false),
    guarded('/a', 'x'),
    guarded('/a', 'y'),
    scanned(true),
    guarded('/a', 'y'),
  ]
  expect(told.filter(isNews)).toEqual(told.filter((_, at) => at !== 3))
})

it('a listener hears only its topic, until it unsubscribes', () => {
  const bus = new Bus()
  const heard: string[] = []
  const unsubscribe = bus.on('say', line => heard.push(`first ${line}`))
  bus.on('say', line => heard.push(`second ${line}`))
  bus.alive()
  bus.say('a')
  unsubscribe()
  bus.say('b')
  expect(heard).toEqual(['first a', 'second a', 'second b'])
})
