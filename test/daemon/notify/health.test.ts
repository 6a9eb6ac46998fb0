import { describe, expect, it } from 'vitest'
import { checksOf, healthOf } from '../../../src/daemon/notify/health.ts'
import type { MirrorStatus } from '../../../src/daemon/report/mirror-status.ts'
import type { Status } from '../../../src/daemon/report/status.ts'
import { needsPerson } from '../../../src/remote/failures.ts'
import { mirrorInSync } from '../report/mirror-status.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const CONFIG = { notify: { max_age: DAY }, host: { api_key_file: '/etc/albumd/api-key' } }
const NOW = Date.parse('2026-11-22T12:00:00Z')

const MIRROR = mirrorInSync(5)
const GUARDED = { state: 'guarded', reason: 'it is away', needs_person: true } as const

type Known = Pick<Status, 'mirrors' | 'blocks' | 'failures' | 'watching'> & Partial<Status>

function codes(mirror: Partial<MirrorStatus>, more: Partial<Known> = {}, quietMs = 0): string[] {
  const mirrors = [{ ...MIRROR, ...mirror }]
  const status: Known = { mirrors, blocks: [], failures: [], watching: null, ...more }
  return healthOf(status, CONFIG, NOW, quietMs).alerts.map(({ code }) => code)
}

const ago = (ms: number) => new Date(NOW - ms).toISOString()
const block = (endpoint: string, code: string) => ({
  endpoint,
  code,
  message: 'no',
  since: ago(0),
  said_at: ago(0),
  next_try_at: null,
  needs_person: needsPerson(code),
})
const failure = (next_attempt_at: string | null) => ({
  mirror: '/srv/photos',
  path: 'a.png',
  code: 'X',
  message: 'x',
  attempts: 1,
  next_attempt_at,
  in_doubt: false,
  needs_person: next_attempt_at === null,
})
const watching = (lost: number) => ({
  folders: 9,
  lost,
  polled: false,
  polled_folders: [],
  reason: 'the limit is reached',
  remedy: 'raise it',
  overflowed_at: null,
})

describe('the alerts', () => {
  it('is empty for a healthy mirror, and for pictures that wait but are not too old', () => {
    expect(codes({})).toEqual([])
    expect(
      codes({ pending_uploads: 9, uncertain: 1, pending_deletions: 3, oldest_unsynced: ago(DAY) }),
    ).toEqual([])
    expect(codes({}, { failures: [failure(ago(-HOUR))] })).toEqual([])
    expect(codes({}, { watching: watching(0) })).toEqual([])
    expect(codes({}, {}, 5 * HOUR)).toEqual([])
  })

  it.each([
    ['GUARDED', GUARDED],
    ['HELD', { held_deletions: 30 }],
    ['GONE_ON_HOST', { gone_on_host: 2 }],
    ['TOO_OLD', { pending_uploads: 1, oldest_unsynced: ago(DAY + 1) }],
  ])('holds %s', (code, mirror) => {
    expect(codes(mirror)).toEqual([code])
  })

  it('names the first picture whose image is gone from the host', () => {
    const gone = { ...MIRROR, gone_on_host: 2, first_gone_on_host: 'a/b.png' }
    const [alert] = healthOf({ mirrors: [gone], blocks: [], failures: [] }, CONFIG, NOW, 0).alerts
    expect(alert!.message).toContain(`the images of ${MIRROR.folder}/a/b.png and 1 more on the host`)
  })

  it('holds a config and a key that were refused, with what to do', () => {
    const refused = (fact: Partial<Status>, file: string | null = null) =>
      checksOf({ mirrors: [MIRROR], blocks: [], failures: [], ...fact }, CONFIG, NOW, file).map(
        ({ code, key, remedy }) => [code, key, remedy],
      )
    const config_refused = 'albumd.yaml:2:1: no'
    const key = `CONFIG ${config_refused}`
    const readAgain = 'Let it read the config again'
    // What the daemon says of its own file is read before the file is mended.
    const mend = 'Correct it, and let albumd read it again'
    expect(refused({ config_refused })).toEqual([['CONFIG', key, mend]])
    expect(refused({ config_refused, pid: 7 })).toEqual([['CONFIG', key, `${mend}: kill -HUP 7`]])
    expect(refused({ config_refused, config_needs_stop: true })).toEqual([['CONFIG', key, null]])
    // A file that was put back is read again.
    const stop = { config_refused, config_needs_stop: true, config_file: 'albumd.yaml' }
    expect(refused({ ...stop, other_config: true }, 'albumd.yaml')).toEqual([['CONFIG', key, null]])
    expect(refused({ ...stop, other_config: false }, 'albumd.yaml')).toEqual([['CONFIG', key, readAgain]])
    // A refusal says nothing of another file.
    const another = [['OTHER_CONFIG', 'OTHER_CONFIG', 'Name the one that it runs with: albumd.yaml']]
    expect(refused(stop, 'another.yaml')).toEqual(another)
    expect(refused({ other_config: true })).toEqual([['OTHER_CONFIG', 'OTHER_CONFIG', readAgain]])
    expect(refused({ key_refused: 'no such file' })).toEqual([['KEY', 'KEY', 'Mend its file']])
  })

  it('leaves out what is worth knowing, and needs nobody', () => {
    const quota = { used_up_early: true, used: 60, limit: 5000 } as Status['quota']
    const known: Partial<Status> = {
      quota,
      paused: { until: null },
      upload_command_failed: 'it ended with 1',
      trouble_command_failed: 'it ended with 7',
      heartbeat_failed: 'the answer was 404',
      loss_ends_at: ago(0),
      store: { away: { since: ago(0), message: 'it is away' } },
    }
    const status = { mirrors: [MIRROR], blocks: [], failures: [], ...known }
    expect(healthOf(status, CONFIG, NOW, 0).alerts).toEqual([])
    const told = checksOf(status, CONFIG, NOW).map(({ code }) => code)
    expect(told).toEqual([
      'PAUSED',
      'LOSS',
      'USED_UP_EARLY',
      'UPLOAD_COMMAND',
      'TROUBLE_COMMAND',
      'HEARTBEAT',
      'STORE_AWAY',
    ])
  })

  it('holds failures that are not tried again, lost watches, and a daemon without a sign of life', () => {
    expect(codes({}, { failures: [failure(null)] })).toEqual(['FAILED'])
    expect(codes({}, { watching: watching(3) })).toEqual(['WATCH_LOST'])
    expect(codes({}, {}, 7 * HOUR)).toEqual(['STUCK'])
  })

  it('names the root where the root failed', () => {
    const atRoot = { ...failure(null), path: '', message: 'it is in doubt' }
    const status: Known = { mirrors: [MIRROR], blocks: [], failures: [atRoot], watching: null }
    expect(healthOf(status, CONFIG, NOW, 0).alerts[0]!.message).toBe('/srv/photos: it is in doubt')
    const failures = [failure(null), { ...failure(null), path: 'b.png' }]
    expect(healthOf({ ...status, failures }, CONFIG, NOW, 0).alerts[0]!.message).toBe('a.png (and 1 more): x')
  })

  it('says who refuses a key, what to do about it, and why a mirror is guarded', () => {
    const said = (...blocks: Known['blocks']) => {
      const status: Known = { mirrors: [{ ...MIRROR, ...GUARDED }], blocks, failures: [], watching: null }
      return healthOf(status, CONFIG, NOW, 0).alerts.map(({ message }) => message)
    }
    expect(said(block('list', 'INVALID_API_KEY'))).toEqual([
      'it is away',
      'The host refuses the key: no. Check host.api_key_file (/etc/albumd/api-key)',
    ])
    expect(said(block('list', 'OTHER_ACCOUNT'))[1]).toBe('albumd refuses the key: no')
    expect(said(block('upload', 'STORAGE_LIMIT_REACHED'))[1]).toBe('The host refuses uploads: no')
  })

  it('names the mirror of a failure where there are several', () => {
    const status: Known = { mirrors: [MIRROR], blocks: [], failures: [failure(null)], watching: null }
    const said = (mirrors: MirrorStatus[]) =>
      healthOf({ ...status, mirrors }, CONFIG, NOW, 0).alerts[0]!.message
    expect(said([MIRROR])).toBe('a.png: x')
    expect(said([MIRROR, { ...MIRROR, folder: '/q' }])).toBe('/srv/photos/a.png: x')
  })

  it('holds a refusal of the host, but for an endpoint outside the plan only where something waits for it', () => {
    expect(codes({}, { blocks: [block('upload', 'STORAGE_LIMIT_REACHED')] })).toEqual([
      'STORAGE_LIMIT_REACHED',
    ])
    const plan = { blocks: [block('delete', 'PLAN_NOT_SUPPORTED'), block('list', 'PLAN_NOT_SUPPORTED')] }
    expect(codes({ pending_uploads: 1 }, plan)).toEqual([])
    expect(codes({ pending_deletions: 1, uncertain: 1 }, plan)).toHaveLength(2)
  })

  it('holds nothing that ends by itself: an ended scan, an outage, a host that is overloaded', () => {
    expect(codes({ state: 'guarded', reason: 'the scan was ended' })).toEqual([])
    for (const code of ['HOST_UNREACHABLE', 'HOST_ANSWER', 'RATE_LIMITED', 'NO_AVAILABLE_IO_NODE'])
      expect(codes({ pending_uploads: 1 }, { blocks: [block('upload', code)] })).toEqual([])
    for (const code of ['INVALID_API_KEY', 'HOST_TLS', 'HOST_REDIRECT', 'INVENTED_CODE'])
      expect(codes({}, { blocks: [block('upload', code)] })).toEqual([code])
  })

  it('has the gravest alert first, and the age of the oldest unsynced picture', () => {
    const mirrors = [
      { ...MIRROR, held_deletions: 1, oldest_unsynced: ago(2 * DAY) },
      { ...MIRROR, ...GUARDED, folder: '/q', oldest_unsynced: ago(3 * DAY) },
    ]
    const health = healthOf({ mirrors, blocks: [], failures: [] }, CONFIG, NOW, 0)
    expect(health.alerts.map(({ key }) => key)).toEqual(['GUARDED /q', 'HELD /p', 'TOO_OLD'])
    expect(health.oldestUnsyncedMs).toBe(3 * DAY)
  })
})
