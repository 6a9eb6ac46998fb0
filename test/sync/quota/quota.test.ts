import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../src/protocol/clock.ts'
import { daysFrom, daysOf } from '../../../src/protocol/days.ts'
import { hostWith } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import type { PassTask } from '../../../src/sync/pass-request.ts'
import {
  type Allowance,
  isUsedUpEarly,
  onlyReserveLeft,
  readQuota,
} from '../../../src/sync/quota/quota-state.ts'
import { png } from '../../pictures.ts'
import { emptyState } from '../../synced/open-tx.ts'
import { ALLOWANCE, failure, openWorkshop, type Workshop } from '../workshop.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const CONCURRENCY = 2
const START = Date.parse('2026-11-21T10:00:00Z')

/** A host with a quota of its own and time that a test lets pass. `begins`: when its day does, into a UTC day. */
function openAccount(workshop: Workshop, dailyQuota: number, begins: number, more: Partial<Allowance> = {}) {
  const allowance: Allowance = {
    ...ALLOWANCE,
    limit: dailyQuota,
    reserve: 0,
    probeEveryMs: 15 * MINUTE,
    ...more,
  }
  /** When a credential was issued. */
  const issued: number[] = []
  const dayOf = (at: number) => Math.floor((at - begins) / DAY_MS)
  let now = START
  const account = {
    /** Requests for credentials, each with its moment. */
    asked: [] as number[],
    allowance,
    /** What the host says of the end, in milliseconds. */
    retryAfterMs: undefined as number | undefined,
    /** Quota comes free 24 hours after it was used, and not with a day. */
    rolls: false,
    /** Added to the wall clock. */
    offset: 0,
    get now() {
      return now
    },
    wait(ms: number) {
      now += ms
    },
    /** Pictures that the host took, over all days. */
    get taken() {
      return issued.length
    },
    read: () => readQuota(workshop.synced, allowance, now + account.offset),
    /** Lets time pass until the host is asked again. */
    waitForProbe() {
      now = account.read().exhausted!.ask - account.offset
    },
    async pass(changes: Partial<EngineContext> = {}, task?: PassTask) {
      const before = account.asked.length
      const clock = {
        ...workshop.clock,
        wall: () => now + account.offset,
        monotonic: () => now - START + HOUR,
      }
      await workshop.pass({ host, clock, allowance, concurrency: CONCURRENCY, ...changes }, task)
      return account.asked.length - before
    },
  }
  const host = hostWith(workshop.host, {
    async requestUpload(...args) {
      account.asked.push(now)
      const counts = (at: number) => (account.rolls ? at > now - DAY_MS : dayOf(at) === dayOf(now))
      const { retryAfterMs } = account
      if (issued.filter(counts).length >= dailyQuota)
        return failure('quota', 'DAILY_LIMIT_REACHED', 'upload', {
          status: 429,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        })
      issued.push(now)
      return workshop.host.requestUpload(...args)
    },
  })
  return account
}

function plant(workshop: Workshop, from: number, to: number) {
  for (let shade = from; shade < to; shade++) workshop.write(`${shade}.png`, png(2, 2, shade).bytes)
}

/** The same, with a workshop of so many pictures. */
async function openWithAccount(pictures: number, ...how: Tail<Parameters<typeof openAccount>>) {
  const workshop = await openWorkshop()
  plant(workshop, 0, pictures)
  return { workshop, account: openAccount(workshop, ...how) }
}

type Tail<T> = T extends [unknown, ...infer Rest] ? Rest : never

const iso8601 = (ms: number) => new Date(ms).toISOString()
const iso = (ms: number) => iso8601(ms).slice(8, 19)

describe('a quota that is used up', () => {
  it('costs one request each probe_every, and the time at which it opened again begins the next day', async () => {
    const { account } = await openWithAccount(40, 12, 16 * HOUR)
    expect(await account.pass()).toBeLessThanOrEqual(12 + CONCURRENCY)
    expect(account.read()).toMatchObject({ used: 12, isDayKnown: false })
    let probes = 0
    for (; account.taken < 24; probes++) {
      const { ask } = account.read().exhausted!
      account.wait(ask - account.now - 1)
      expect(await account.pass()).toBe(0)
      account.wait(1)
      expect(await account.pass()).toBeLessThanOrEqual(account.taken === 24 ? 12 + CONCURRENCY : 1)
    }
    // From 10:00 to 16:00 each 15 minutes.
    expect(probes).toBe(24)
    expect(account.read()).toMatchObject({ used: 12, isDayKnown: true, ends: START + 6 * HOUR + DAY_MS })
  })

  it('is asked about again where the host said, and where it did not keep its word each probe_every', async () => {
    const { account } = await openWithAccount(20, 5, 0)
    account.retryAfterMs = 2 * HOUR
    await account.pass()
    expect(account.read().exhausted).toMatchObject({ resumes: START + 2 * HOUR })
    account.wait(2 * HOUR - 1)
    expect(await account.pass()).toBe(0)
    account.waitForProbe()
    expect(await account.pass()).toBe(1)
    expect(account.read().exhausted).toMatchObject({ ask: account.now + 15 * MINUTE, resumes: null })
    account.waitForProbe()
    expect(await account.pass()).toBe(1)
    expect(account.read().exhausted).toMatchObject({ ask: account.now + 15 * MINUTE, resumes: null })
  })

  it('is asked about at the configured reset alone, and each probe_every where that was wrong', async () => {
    const days = daysOf({ minutes: 23 * 60, time_zone: 'Asia/Shanghai' })
    const { account } = await openWithAccount(8, 5, 16 * HOUR, { days })
    await account.pass()
    expect(iso(account.read().exhausted!.resumes!)).toBe('21T15:00:00')
    account.waitForProbe()
    expect(await account.pass()).toBe(1)
    expect(account.read().exhausted).toMatchObject({ ask: account.now + 15 * MINUTE, resumes: null })
  })

  it('stays used up over midnight, for only the host knows its day', async () => {
    const { account } = await openWithAccount(8, 5, 16 * HOUR, { probeEveryMs: DAY_MS / 2 })
    account.wait(7 * HOUR)
    await account.pass()
    expect(account.read().used).toBe(5)
    account.wait(8 * HOUR)
    expect(await account.pass()).toBe(0)
    expect(account.read()).toMatchObject({ used: 5, exhausted: { resumes: null } })
  })

  it('costs a request where the clock was set', async () => {
    const { account } = await openWithAccount(14, 5, 16 * HOUR)
    await account.pass()
    account.offset = -300 * DAY_MS
    expect(await account.pass()).toBe(1)
    expect(await account.pass()).toBe(0)
    account.offset = 0
    expect(await account.pass()).toBe(1)
    account.wait(6 * HOUR)
    account.offset = -90 * MINUTE
    await account.pass()
    expect(account.taken).toBe(10)
  })

  it('is not taken to last until the day of a clock that was wrong', async () => {
    const { account } = await openWithAccount(6, 5, 0, {
      days: daysOf({ minutes: 0, time_zone: 'UTC' }),
    })
    account.offset = 300 * DAY_MS
    await account.pass()
    account.offset = 0
    expect(await account.pass()).toBe(1)
    expect(await account.pass()).toBe(0)
    account.wait(15 * HOUR)
    expect(await account.pass()).toBe(1)
    expect(account.taken).toBe(6)
  })

  it('counts what others upload: a local count never stops anything', async () => {
    const { account } = await openWithAccount(8, 8, 0, { limit: 3 })
    await account.pass()
    expect(account.taken).toBe(8)
    expect(account.read()).toMatchObject({ used: 8, exhausted: null })
  })

  it.each([
    [10, false],
    [5000, true],
  ])(
    'tells when the host said so long before the limit (%i: %s), and not of a day that began before ours',
    async (limit, early) => {
      const { workshop, account } = await openWithAccount(6, 10, 16 * HOUR, { limit })
      const isEarly = () => isUsedUpEarly(workshop.synced, account.allowance, account.read())
      account.wait(7 * HOUR)
      await account.pass()
      expect(isEarly()).toBe(false)
      plant(workshop, 6, 12)
      account.wait(8 * HOUR)
      await account.pass()
      expect(account.read()).toMatchObject({ used: 4, exhausted: { resumes: null } })
      expect(isEarly()).toBe(early)
    },
  )

  it('does not call a refusal early by a limit that the config got only after it', async () => {
    const { workshop, account } = await openWithAccount(6, 4, 0, { limit: 4 })
    const isEarly = (limit: number) =>
      isUsedUpEarly(workshop.synced, { ...account.allowance, limit }, account.read())
    await account.pass()
    expect(account.read()).toMatchObject({ used: 4, exhausted: {} })
    expect([isEarly(4), isEarly(20)]).toEqual([false, false])
    const raised = openAccount(workshop, 0, 0, { limit: 20 })
    workshop.synced.commitNow(tx => tx.meta.set('quota_asked', true))
    await raised.pass()
    expect(isEarly(20)).toBe(true)
  })

  it('comes free bit by bit where the host counts 24 hours: one request each probe_every, and all that is free is used', async () => {
    const { workshop, account } = await openWithAccount(4, 12, 0)
    account.rolls = true
    for (let from = 4; from < 12; from += 4) {
      await account.pass()
      account.wait(HOUR)
      plant(workshop, from, from + 4)
    }
    plant(workshop, 12, 60)
    await account.pass()
    expect(account.taken).toBe(12)
    const taken: number[] = []
    while (account.taken < 24) {
      account.waitForProbe()
      const [before, asked] = [account.taken, await account.pass()]
      if (account.taken === before) expect(asked).toBe(1)
      else expect(asked).toBeLessThanOrEqual(account.taken - before + CONCURRENCY)
      if (account.taken > before) taken.push(account.taken - before)
      expect(isUsedUpEarly(workshop.synced, account.allowance, account.read())).toBe(false)
    }
    expect(taken).toEqual([4, 4, 4])
  })

  it('is counted over many openings in two days, and days are forgotten by their age', async () => {
    const { workshop, account } = await openWithAccount(1, 0, 0, { limit: 200 })
    const days = Array.from({ length: 150 }, (_, n) => iso8601(START - n * 15 * MINUTE))
    const old = iso8601(START - 200 * DAY_MS)
    workshop.synced.commitNow(tx => {
      for (const day of [...days, ...days, old]) tx.account.useQuota(day)
      tx.meta.set('quota_day', days[0]!)
      tx.meta.set('quota_opened', START)
    })
    await account.pass()
    expect(account.read()).toMatchObject({ used: 2, exhausted: { since: START } })
    expect(workshop.synced.account.usedAfter('')).toBe(300)
    expect(isUsedUpEarly(workshop.synced, account.allowance, account.read())).toBe(false)
  })

  it('does not keep pictures that are there already from being linked', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 0, 3)
    await workshop.pass()
    const lost = emptyState()
    const account = openAccount(workshop, 0, 0)
    await lost.commit(tx => tx.meta.set('quota_day', '2026-11-21T00:00:00.000Z'))
    await lost.commit(tx =>
      tx.account.exhaustQuota({
        day: '2026-11-21T00:00:00.000Z',
        exhausted: START,
        said_at: START,
        resumes_at: null,
      }),
    )
    const parts = { synced: lost, contents: new AlbumContents() }
    expect(await account.pass(parts)).toBe(0)
    expect(lost.summaries.mirror(1)).toMatchObject({ linked: 0, pending_uploads: 3 })
    expect(await account.pass(parts, 'adopt')).toBe(0)
    expect(lost.summaries.mirror(1)).toMatchObject({ linked: 3, pending_uploads: 0 })
  })
})

describe('the reserve', () => {
  it('is all that is left of the limit from its border on, and never with a share of 0', () => {
    const left = (used: number, reserve: number) =>
      onlyReserveLeft({ ...ALLOWANCE, limit: 5000, reserve }, { used })
    expect(left(4499, 0.1)).toBe(false)
    expect(left(4500, 0.1)).toBe(true)
    expect(left(5000, 0)).toBe(false)
  })

  it('is kept from a backlog for what is found on the day, and used up for that', async () => {
    const { workshop, account } = await openWithAccount(40, 12, 16 * HOUR, { reserve: 0.5 })
    await account.pass()
    // All of it was found today.
    expect(account.taken).toBe(12)
    account.wait(6 * HOUR + MINUTE)
    await account.pass()
    const backlog = account.taken
    expect(backlog).toBeGreaterThanOrEqual(18)
    expect(backlog).toBeLessThan(18 + CONCURRENCY)
    const quiet = account.asked.length
    account.wait(5 * MINUTE)
    expect((await workshop.synced.files.pendingSince(account.read().began, [1]).next()).done).toBe(true)
    await account.pass()
    expect(account.asked).toHaveLength(quiet)
    expect(workshop.events.at(-1)).toMatchObject({ code: 'QUOTA_RESERVE' })
    plant(workshop, 40, 43)
    await account.pass()
    expect(account.taken).toBe(backlog + 3)
    expect(account.asked).toHaveLength(quiet + 3)
    expect(account.read().exhausted).toBeNull()
  })

  it('is kept on a day that begins in the middle of a pass', async () => {
    const { account } = await openWithAccount(40, 12, 16 * HOUR, {
      reserve: 0.5,
      days: daysFrom(16 * HOUR),
    })
    let uploaded = 0
    await account.pass({
      emit(event) {
        if (event.event === 'picture_uploaded' && ++uploaded === 9) account.wait(6 * HOUR + MINUTE)
      },
    })
    expect(account.taken).toBeGreaterThanOrEqual(9 + 6)
    expect(account.taken).toBeLessThan(9 + 6 + 2 * CONCURRENCY)
    expect(account.read().exhausted).toBeNull()
  })

  it('is not kept with a share of 0, as where the oldest go first', async () => {
    const { account } = await openWithAccount(20, 8, 16 * HOUR, { reserve: 0 })
    await account.pass({ order: 'oldest' })
    account.wait(6 * HOUR + MINUTE)
    await account.pass({ order: 'oldest' })
    expect(account.taken).toBe(16)
  })
})
