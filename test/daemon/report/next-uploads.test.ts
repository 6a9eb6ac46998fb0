import { renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stateInWords } from '../../../src/cli/commands/why.ts'
import type { DaemonView } from '../../../src/daemon/loop/supervisor.ts'
import { type ExplainContext, type Explanation, whyNotThere } from '../../../src/daemon/report/explain.ts'
import { quotaStatus, whatBacklogTakes } from '../../../src/daemon/report/quota-status.ts'
import { statusOf } from '../../../src/daemon/report/status.ts'
import { stepInWords } from '../../../src/daemon/report/step.ts'
import { Metrics } from '../../../src/page/metrics.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { noteLost } from '../../../src/sync/clock.ts'
import { inWords, said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { failure } from '../../sync/workshop.ts'
import { type Asked, asked, blockedBy, events } from './asked.ts'

const steps = ({ next }: Explanation) => next.map(({ what }) => what).join('\n')

describe('why, of a picture that is to be sent', () => {
  it('says of a touched picture that its bytes are compared, for which no quota is needed', async () => {
    const at = await asked()
    at.write('touched.png', png(3, 3).bytes)
    await at.pass()
    at.write('new.png', png(4, 3).bytes)
    const refused = failure('quota', 'DAILY_LIMIT_REACHED', 'upload', { status: 429 })
    await at.pass({ host: hostWith(at.host, { requestUpload: async () => refused }) })
    utimesSync(join(at.pictures, 'touched.png'), 1, 1)
    await at.pass({}, 'look')
    const told = at.why('touched.png')
    expect(stateInWords(told)).toMatch(/^waits to be compared: /)
    expect(told).toMatchObject({ state: 'pending', next: [{ code: 'will_be_compared' }] })
    expect(at.why('touched.png', { running: false }).next).toMatchObject([{ code: 'run_sync' }])
    expect(at.why('new.png').next).toMatchObject([{ code: 'quota_used_up' }, { code: 'quota_raised' }])
    const status = quotaStatus(at.config, at.synced, Date.now())
    expect(status.backlog).toMatchObject({ pictures: 2, compare: 1, bytes: png(4, 3).bytes.length })
    expect(inWords(whatBacklogTakes(status)!)).toMatch(/^1 picture: /)
    const daemon = { queue: { session: at }, problem: () => null } as unknown as DaemonView
    const { text } = await new Metrics(() => 0).read(daemon, [], Date.now())
    expect(text).toContain(`albumd_backlog_pictures 1\n`)
    expect(text).toContain(`albumd_backlog_bytes ${status.backlog.bytes}\n`)
  })

  it('tells what a failed upload and an upload in doubt wait for', async () => {
    const at = await asked()
    at.write('no.png', 'this is no picture')
    await at.pass()
    const failed = at.why('no.png')
    expect(failed).toMatchObject({
      state: 'failed',
      failure: { code: 'NOT_A_PICTURE', next_attempt_at: null },
    })
    expect(failed.next).toMatchObject([
      { what: 'albumd tries again once the file changes' },
      { command: `albumd retry ${join(at.pictures, 'no.png')}` },
    ])
    expect(events(failed)).toEqual(['failed'])

    at.write('lost.png', png(7, 7).bytes)
    const host = hostWith(at.host, { send: async () => failure('find_out', 'HOST_TIMEOUT', 'send') })
    await at.pass({ host })
    const uncertain = at.why('lost.png')
    expect(uncertain).toMatchObject({ state: 'uncertain', failure: { code: 'UNCERTAIN' } })
    expect(uncertain.next[0]!.at).toBe(uncertain.failure!.next_attempt_at)
    expect(uncertain.next[1]).toMatchObject({ command: expect.stringContaining('albumd retry --resend ') })
    expect(events(uncertain)).toContain('uncertain')
  })

  it('tells of a picture in doubt that is gone until when it is looked for, no later when it is there again', async () => {
    const at = await asked()
    let passed = 0
    const began = systemClock.wall()
    const clock = { ...systemClock, wall: () => began + passed, monotonic: () => 1_000_000 + passed }
    const host = hostWith(at.host, { send: async () => failure('find_out', 'HOST_TIMEOUT', 'send') })
    at.write('there.png', png(8, 8).bytes)
    await at.pass({ clock })
    at.write('lost.png', png(7, 7).bytes)
    await at.pass({ host, clock })
    const until = at.why('lost.png').next[0]!.at
    expect(until).not.toBe(null)
    passed = 30_000
    const away = `${at.pictures}.png`
    renameSync(join(at.pictures, 'lost.png'), away)
    await at.pass({ host, clock })
    const host60 = { ...at.config.host, credential_lifetime: 60_000 }
    const gone = at.why('lost.png', { config: { ...at.config, host: host60 } })
    expect(gone).toMatchObject({
      state: 'uncertain',
      reason: 'gone from the disk before it was known whether its upload arrived',
      failure: null,
      next: [{ code: 'looked_for', at: until }],
    })
    expect(whyNotThere(gone)).toMatchObject({ code: 'UNCERTAIN' })
    renameSync(away, join(at.pictures, 'lost.png'))
    await at.pass({ host, clock })
    expect(at.why('lost.png')).toMatchObject({ state: 'uncertain', failure: { next_attempt_at: until } })
  })

  it('tells what uploads wait for, and until when', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass({}, 'adopt')
    expect(at.why('p.png')).toMatchObject({
      state: 'pending',
      reason: 'new',
      next: [{ code: 'will_be_uploaded' }],
    })
    at.write('p.png', png(30, 30).bytes)
    await at.pass({}, 'adopt')
    expect(at.why('p.png').reason).toBe('new')
    expect(events(at.why('p.png'))).toEqual([])
    // As on a machine that was booted since, where the clock that counts begins anew.
    at.synced.commitNow(tx => noteLost(tx, systemClock.monotonic() + 86_400_000))
    const [step] = at.why('p.png').next
    expect(step!.code).toBe('sent_before_loss')
    const waitMs = Date.parse(step!.at!) - Date.now()
    expect(waitMs).toBeGreaterThan(600_000)
    expect(waitMs).toBeLessThan(730_000)
    at.synced.commitNow(tx => tx.meta.clear('lost_at'))
    const said_at = Date.parse('2029-12-31T00:00:00.000Z')
    const block = (endpoint: string, code: string) => {
      return { endpoint, code, message: said('no such'), since: said_at, said_at }
    }
    // When each is asked about again. In an outage the next pass tries again.
    for (const [endpoint, code, time] of [
      ['upload', 'STORAGE_LIMIT_REACHED', '00:15'],
      ['list', 'INVALID_API_KEY', '01:00'],
      ['upload', 'HOST_UNREACHABLE', '00:01'],
    ] as const) {
      blockedBy(at, block(endpoint, code))
      const one = { cause: code, at: `2029-12-31T${time}:00.000Z`, what: expect.stringContaining('no such') }
      expect(at.why('p.png').next, code).toMatchObject([one])
    }
    blockedBy(at, block('create_album', 'STORAGE_LIMIT_REACHED'))
    expect(at.why('p.png').next).toMatchObject([{ code: 'endpoint_blocked', cause: 'STORAGE_LIMIT_REACHED' }])
    // Where the plan has no albums, pictures are sent without.
    blockedBy(at, block('create_album', 'PLAN_NOT_SUPPORTED'))
    expect(at.why('p.png').next).toMatchObject([{ code: 'will_be_uploaded' }])
    blockedBy(at, block('upload', 'HOST_UNREACHABLE'))
    const ended = at.why('p.png', { running: false })
    expect(ended.next).toMatchObject([{ cause: 'HOST_UNREACHABLE', at: null }, { command: 'albumd sync' }])
    const refused = block('list', 'INVALID_API_KEY')
    blockedBy(at, refused)
    expect(at.why('p.png').next[0]!.what).toContain('check host.api_key_file')
    blockedBy(at)
    const resumes_at = new Date(Date.now() + 3_600_000).toISOString()
    usedUp(at, Date.parse(resumes_at))
    expect(at.why('p.png').next).toMatchObject([
      { code: 'quota_used_up', at: resumes_at },
      { code: 'quota_raised' },
    ])
    // What needs a person comes first, and while the key is refused the host is not asked again.
    blockedBy(at, refused)
    const both = at.why('p.png')
    expect(both.next).toMatchObject([{ code: 'key_refused' }, { cause: 'DAILY_LIMIT_REACHED' }])
    expect(whyNotThere(both)).toEqual({ code: 'INVALID_API_KEY', reason: stepInWords(both.next[0]!) })
    blockedBy(at)
    // Without a daemon, a `sync` before that time would stop there too.
    const alone = at.why('p.png', { running: false })
    expect(alone.next).toMatchObject([
      { at: resumes_at },
      { code: 'quota_raised' },
      { code: 'later_sync', command: null },
    ])
    at.synced.commitNow(tx => tx.meta.set('paused', true))
    expect(at.why('p.png').next).toMatchObject([{ command: 'albumd resume' }])
    at.synced.commitNow(tx => {
      tx.meta.clear('paused')
      tx.account.forgetExhaustion()
    })
  })

  it('tells that while only the reserve is left, an older picture waits and a new picture does not', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass({}, 'adopt')
    const found = at.synced.files.inState('pending')[0]!
    const now = Date.now()
    const day = new Date(now - 1000)
    at.synced.commitNow(tx => tx.meta.set('quota_day', day.toISOString()))
    for (let n = 0; n < 8; n++) at.synced.commitNow(tx => tx.account.useQuota(day.toISOString()))
    const { hours: _hours, ...uploads } = at.config.uploads
    const { host, quota } = at.config
    const few = {
      ...at.config,
      uploads,
      host: { ...host, daily_quota: 10, quota_reset: undefined },
      quota: { ...quota, reserve: 0.2 },
    }
    const why = (since: number, changes: Partial<ExplainContext> = {}) => {
      at.synced.commitNow(tx => tx.files.put({ ...found, since }))
      return at.why('p.png', { config: few, now: now + 5000, ...changes })
    }
    const waiting = why(now - 60_000)
    expect(waiting.next).toMatchObject([{ what: expect.stringContaining('quota.reserve') }])
    expect(Date.parse(waiting.next[0]!.at!)).toBeGreaterThan(now)
    expect(steps(why(now))).not.toContain('quota.reserve')
    const oldest = { ...few, uploads: { ...uploads, order: 'oldest' as const } }
    expect(steps(why(now - 60_000, { config: oldest }))).not.toContain('quota.reserve')
  })

  it('tells with its time what a picture waits for, as the pass recorded it, and until it is complete', async () => {
    const at = await asked()
    const whole = png(30, 30).bytes
    at.write('a/half.png', whole.subarray(0, whole.length - 20))
    const own = () => at.why('a/half.png').next
    const recorded = { code: 'incomplete', cause: 'NOT_READY', at: expect.stringMatching(/^20/) }
    for (const task of ['look', 'adopt'] as const) {
      await at.pass({}, task)
      expect(own()).toMatchObject([{ code: 'will_be_uploaded', as_of: null }])
    }
    await at.pass()
    const [first] = own()
    expect(first).toMatchObject({ ...recorded, as_of: expect.stringMatching(/^20/) })
    await at.pass()
    expect(own()).toEqual([first])
    expect(at.why('a').next).toEqual([first])
    expect(statusOf(at.config, at.synced, true, Date.now()).mirrors).toMatchObject([
      {
        state: 'idle',
        reason: expect.stringMatching(/^a\/half\.png: /),
        waits: [{ ...recorded, pictures: 1 }],
      },
    ])
    at.synced.commitNow(tx => tx.meta.set('paused', true))
    expect(own()).toMatchObject([{ code: 'all_paused' }, recorded])
    at.synced.commitNow(tx => tx.meta.clear('paused'))
    at.write('a/half.png', whole)
    await at.pass({}, 'look')
    expect(own()).toMatchObject([{ code: 'will_be_uploaded' }])
  })
})

it('says of several pictures with different flaws what they have in common', async () => {
  const at = await asked()
  const whole = png(30, 30).bytes
  const waits = () => statusOf(at.config, at.synced, true, Date.now()).mirrors[0]!.waits
  at.write('a.png', whole.subarray(0, whole.length - 20))
  await at.pass()
  const [one] = waits()
  expect(one).toMatchObject({ code: 'incomplete', pictures: 1 })
  at.write('b.png', whole.subarray(0, whole.length - 30))
  await at.pass()
  expect(waits()).toMatchObject([{ code: 'incomplete', pictures: 2 }])
  expect(waits()[0]!.what).not.toContain('byte')
  expect(one!.what).toContain(`byte ${whole.length - 20}`)
})

/** The host said a moment ago that the day's quota is used up, and until when. */
function usedUp({ synced }: Asked, resumes_at: number): void {
  const now = Date.now()
  const day = new Date(now - 1000).toISOString()
  synced.commitNow(tx => {
    tx.meta.set('quota_day', day)
    tx.account.exhaustQuota({ day, exhausted: now, said_at: now, resumes_at })
  })
}
