import { expect, test } from 'vitest'
import { settle } from '../../src/host/ports.ts'
import { REQUESTS_PER_SECOND } from '../../src/protocol/limits.ts'
import { png } from '../pictures.ts'
import { OTHER_KEY, UNLIMITED } from './choices.ts'
import { type Answer, send, TestClock, type TestHost, testHost } from './test-host.ts'

const picture = png()

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

test('a second of an endpoint is a sliding one, and refused requests do not count', async () => {
  const clock = new TestClock()
  const host = await testHost({ clock, requestsPerSecond: { ...UNLIMITED, list: 2 } })
  const outcomes: number[] = []
  for (const wait of [0, 600, 300, 99, 1, 0, 599, 1, 0]) {
    clock.advance(wait)
    outcomes.push((await host.call('GET', '/list')).status)
  }
  // Admitted at 0, 600, 1000 and 1600; refused in between.
  expect(outcomes).toEqual([200, 200, 429, 429, 200, 429, 429, 200, 429])
})

test('RATE_LIMITED carries the three headers, and what is admitted says how much is left', async () => {
  const clock = new TestClock()
  const host = await testHost({ clock, requestsPerSecond: { ...UNLIMITED, list: 2 } })
  const rate = ({ headers }: Answer) => [
    headers.get('X-RateLimit-Limit'),
    headers.get('X-RateLimit-Remaining'),
  ]
  const asked = [
    await host.call('GET', '/list'),
    await host.call('GET', '/list'),
    await host.call('GET', '/list'),
  ]
  expect(asked.map(rate)).toEqual([
    ['2', '1'],
    ['2', '0'],
    ['2', '0'],
  ])
  expect(asked.map(answer => answer.headers.get('Retry-After'))).toEqual([null, null, '1'])
})

test('a request that is refused for its parameters has counted all the same', async () => {
  const clock = new TestClock()
  const host = await testHost({ clock, requestsPerSecond: { ...UNLIMITED, list: 1 } })
  const faulty = await host.call('GET', '/list?page=0')
  expect([faulty.json.code, faulty.headers.get('X-RateLimit-Remaining')]).toEqual(['INVALID_PARAMS', '0'])
  expect((await host.call('GET', '/list')).json.code).toBe('RATE_LIMITED')
})

test("§8's limits hold where nothing else is said, each endpoint and each account for itself", async () => {
  const clock = new TestClock()
  const host = await testHost({ clock, requestsPerSecond: {} })
  const admitted = async (call: () => Promise<Answer>) => {
    let count = 0
    while ((await call()).json.code !== 'RATE_LIMITED') count += 1
    return count
  }
  const urls: string[] = []
  const ask = async (key?: string) => {
    const answer = await host.requestUpload(picture, {}, key)
    if (answer.json.success) urls.push(answer.json.data.upload_url)
    return answer
  }
  expect({
    upload: await admitted(ask),
    send: await admitted(() => send(urls[0]!, picture.bytes)),
    list: await admitted(() => host.call('GET', '/list')),
    delete: await admitted(() => host.call('DELETE', '/delete?img=none')),
    create_album: await admitted(() => host.call('POST', '/create_album', { name: 'a' })),
  }).toEqual(REQUESTS_PER_SECOND)
  expect(await admitted(() => ask(OTHER_KEY))).toBe(REQUESTS_PER_SECOND.upload)
  expect((await host.call('POST', '/api/presign', {})).json.code).toBe('RATE_LIMITED')
})

test('the daily quota counts credentials, says when it ends, and begins anew at midnight UTC', async () => {
  const clock = new TestClock('2026-11-21T23:00:00Z')
  const host = await testHost({ clock, dailyQuota: 2 })
  await host.image(picture)
  const id = await host.image(picture)
  await host.call('DELETE', `/delete?img=${id}`)
  const exhausted = await host.requestUpload(picture)
  expect([exhausted.status, exhausted.json.code]).toEqual([429, 'DAILY_LIMIT_REACHED'])
  expect(exhausted.headers.get('Retry-After')).toBe('3600')
  expect((await host.requestUpload(picture, {}, OTHER_KEY)).json.success).toBe(true)
  clock.advance(60 * MINUTE - 1)
  expect((await host.requestUpload(picture)).json.code).toBe('DAILY_LIMIT_REACHED')
  clock.advance(1)
  expect((await host.requestUpload(picture)).json.success).toBe(true)
})

/** Seconds until a place is promised, each answer being DAILY_LIMIT_REACHED. */
async function waitFor(host: TestHost): Promise<number> {
  const { json, headers } = await host.requestUpload(picture)
  expect(json.code).toBe('DAILY_LIMIT_REACHED')
  return Number(headers.get('Retry-After'))
}

test('a credential that is never used counts for its day, so that the answer when to come again holds', async () => {
  const clock = new TestClock('2026-11-21T23:00:00Z')
  const host = await testHost({ clock, dailyQuota: 1 })
  await host.uploadUrl(picture)
  expect(await waitFor(host)).toBe(3600)
  clock.advance(10 * MINUTE)
  expect(await waitFor(host)).toBe(3000)
})

test('a quota of none has no day on which to come again', async () => {
  const none = await testHost({ dailyQuota: 0 })
  expect((await none.requestUpload(picture)).headers.has('Retry-After')).toBe(false)
})

test.each([
  ['2026-11-21T15:30:00Z', { minutes: 0, time_zone: 'Asia/Shanghai' }, 30],
  ['2026-11-21T16:00:00Z', { minutes: 0, time_zone: 'Asia/Shanghai' }, 24 * 60],
  ['2026-11-21T12:00:00Z', { minutes: 4 * 60 + 30, time_zone: 'UTC' }, 16 * 60 + 30],
  // The clocks are put back at 01:00 UTC, and put forward.
  ['2026-10-24T23:00:00Z', { minutes: 4 * 60, time_zone: 'Europe/Berlin' }, 4 * 60],
  ['2026-03-28T23:00:00Z', { minutes: 4 * 60, time_zone: 'Europe/Berlin' }, 3 * 60],
])('the day of %s goes on, where it begins at %o, for %i minutes', async (now, dayBegins, minutes) => {
  const clock = new TestClock(now)
  const host = await testHost({ clock, dailyQuota: 1, dayBegins })
  await host.image(picture)
  expect(await waitFor(host)).toBe(minutes * 60)
  clock.advance(minutes * MINUTE - 1)
  expect(await waitFor(host)).toBe(1)
  clock.advance(1)
  await host.image(picture)
})

test('the plan decides the quota where nothing else is said', async () => {
  const host = await testHost({ plan: 'flagship' })
  expect((await host.requestUpload(picture)).json.success).toBe(true)
  expect(settle({ plan: 'professional' }).dailyQuota).toBe(5000)
  expect(settle({ plan: 'flagship' }).dailyQuota).toBe(50_000)
})

test('a credential is good for ten minutes, or as long as the host was told', async () => {
  const clock = new TestClock()
  const host = await testHost({ clock })
  const [inTime, late] = [await host.uploadUrl(picture), await host.uploadUrl(picture)]
  clock.advance(10 * MINUTE - 1)
  expect((await send(inTime, picture.bytes)).json.success).toBe(true)
  clock.advance(1)
  expect((await send(late, picture.bytes)).json.code).toBe('FORBIDDEN')
  const quick = await testHost({ clock, credentialTtlMs: 2 * SECOND })
  const url = await quick.uploadUrl(picture)
  clock.advance(2 * SECOND)
  expect((await send(url, picture.bytes)).json.code).toBe('FORBIDDEN')
})

test('a credential that has run out is told from one that was never issued for a day', async () => {
  const clock = new TestClock()
  const host = await testHost({ clock })
  const url = await host.uploadUrl(picture)
  clock.advance(10 * MINUTE + DAY - 1)
  await host.uploadUrl(picture)
  expect((await send(url, picture.bytes)).json.code).toBe('FORBIDDEN')
  clock.advance(1)
  await host.uploadUrl(picture)
  expect((await send(url, picture.bytes)).json.code).toBe('NOT_FOUND')
})

test('what open credentials declare counts for the storage, until they are used or run out', async () => {
  const clock = new TestClock()
  const host = await testHost({ clock, storageLimit: 2 * picture.bytes.byteLength })
  await host.uploadUrl(picture)
  const id = await host.image(picture)
  expect((await host.requestUpload(picture)).json.code).toBe('STORAGE_LIMIT_REACHED')
  clock.advance(10 * MINUTE)
  await host.image(picture)
  expect((await host.requestUpload(picture)).json.code).toBe('STORAGE_LIMIT_REACHED')
  await host.call('DELETE', `/delete?img=${id}`)
  expect((await host.requestUpload(picture)).json.success).toBe(true)
})
