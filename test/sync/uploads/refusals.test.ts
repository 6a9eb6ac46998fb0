import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hostWith } from '../../../src/remote/host.ts'
import type { BlockRow } from '../../../src/synced/tables/account.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { clientOf } from '../../remote/client-of.ts'
import { bodyOf, json, passOn, serve } from '../../remote/serve.ts'
import { ALLOWANCE, failure, openWith, openWorkshop, START, summary, type Workshop } from '../workshop.ts'

type Endpoint = 'upload' | 'list' | 'create_album'

/** Pictures in so many folders. */
const inFolders = (folders: number, from: number) =>
  Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`${n % folders}/${from + n}.png`, png(2, 2 + from + n).bytes]),
  )

/** The workshop behind a proxy that refuses all requests to one endpoint, in a time of its own. */
async function refusing(
  workshop: Workshop,
  origin: string,
  endpoint: Endpoint,
  status: number,
  body: unknown,
) {
  const told = { asked: 0, sent: 0, refuses: true }
  let ahead = 0
  const monotonic = () => performance.now() + ahead
  const sleep = async (ms: number) => {
    const end = monotonic() + ms
    await setImmediate()
    ahead += Math.max(0, end - monotonic())
  }
  const proxy = await serve(async (request, response) => {
    const bytes = await bodyOf(request)
    told.sent++
    if (told.refuses && request.url!.startsWith(`/api/v1/${endpoint}`)) {
      told.asked++
      if (typeof body !== 'string') return json(response, status, body)
      response.writeHead(status, { 'content-type': 'text/html' })
      return void response.end(body)
    }
    return passOn(origin, request, bytes, response)
  })
  const host = clientOf(proxy, {
    apiKey: 'workshop-key',
    requestsPerSecond: UNLIMITED,
    patience: { attempts: 4, maxDelayMs: 300_000 },
    clock: { monotonic, sleep },
  })
  const began = monotonic()
  const clock = { monotonic, sleep, wall: () => Math.round(START + monotonic() - began) }
  const allowance = { ...ALLOWANCE, probeEveryMs: 15 * 60_000 }
  const pass = () => workshop.pass({ host, clock, allowance, concurrency: 8 })
  const until = async (minute: number) => {
    for (; monotonic() - began < minute * 60_000; ahead += 60_000) await pass()
  }
  return { told, pass, until }
}

const PLAN = { success: false, error: 'Your plan has ended', code: 'PLAN_EXPIRED_RESTRICTED' }
const CLOSED = { success: false, message: 'Back at six', code: 'MAINTENANCE_SCHEDULED' }
const ANSWERS = [
  ['PLAN_EXPIRED_RESTRICTED', 403, PLAN],
  ['MAINTENANCE_SCHEDULED', 403, CLOSED],
  ['MAINTENANCE_SCHEDULED', 503, CLOSED],
  ['no code', 403, { success: false, detail: 'Not today' }],
  ['a bare answer', 403, { message: 'Not today' }],
  ['a page', 403, '<h1>403 Forbidden</h1>'],
] as const

describe.each(['upload', 'list', 'create_album'] as const)('at "%s" for every picture', endpoint => {
  it.each([
    // The breaker does not look at the endpoint.
    ...(endpoint === 'upload' ? ANSWERS : [ANSWERS[0], ANSWERS[5]]),
    ...(endpoint === 'upload'
      ? ([
          ['VALIDATION_ERROR', 400, { success: false, error: 'no', code: 'VALIDATION_ERROR' }],
          ['FORBIDDEN', 403, { success: false, error: 'no', code: 'FORBIDDEN' }],
        ] as const)
      : []),
  ])('%s (%i) is a block in the words of the host, and fails none', async (_, status, body) => {
    const workshop = await openWith(inFolders(12, 0))
    // Some albums are there. A process that has just begun knows of none.
    await workshop.pass()
    for (const [path, bytes] of Object.entries(inFolders(20, 30))) workshop.write(path, bytes)
    const { told, pass, until } = await refusing(workshop, workshop.siteUrl, endpoint, status, body)
    expect(await pass()).toMatchObject({ stopped: [{ code: 'HOST_REFUSES', endpoint }] })
    const words =
      typeof body === 'string' ? '403' : (Object.values(body).find(v => typeof v === 'string') as string)
    const [{ message }] = workshop.synced.account.blocks() as [BlockRow]
    expect(inWords(message)).toContain(words)
    expect(told.asked).toBeLessThanOrEqual(12)
    const first = told.asked
    await until(60)
    // One after 1, 2, 4 and 8 minutes, and then one every 15.
    expect(told.asked - first).toBeLessThanOrEqual(9)
    // Pictures that need nothing of the endpoint are sent.
    const { failed, synced, pending_uploads } = summary(workshop)
    expect([failed, synced + pending_uploads]).toEqual([0, 60])
    expect(pending_uploads).toBeGreaterThanOrEqual(8)
    told.refuses = false
    await until(90)
    expect(workshop.synced.account.blocks()).toEqual([])
    expect(summary(workshop)).toMatchObject({ synced: 60, failed: 0, flat: 0 })
  })
})

/** Passes in which pictures come one by one, and the host refuses them. `taken`: those that it takes. */
async function refusingOneByOne(count: number, taken: number[]): Promise<Workshop> {
  const workshop = await openWorkshop()
  const said = failure('not_permitted', 'PLAN_EXPIRED_RESTRICTED', 'upload', { status: 403 })
  for (let n = 0; n < count; n++) {
    workshop.write(`${n}.png`, png(2, 2 + n).bytes)
    const host = taken.includes(n)
      ? workshop.host
      : hostWith(workshop.host, { requestUpload: async () => said })
    await workshop.pass({ host })
  }
  return workshop
}

it('three pictures that come one by one, and are refused alike, are a block, and none fails', async () => {
  const workshop = await refusingOneByOne(3, [])
  expect(workshop.synced.account.blocks()).toMatchObject([{ code: 'HOST_REFUSES', endpoint: 'upload' }])
  expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 3 })
})

it('pictures that are refused alike while others are taken have failed', async () => {
  const workshop = await refusingOneByOne(5, [2])
  expect(workshop.synced.account.blocks()).toEqual([])
  expect(summary(workshop)).toMatchObject({ failed: 4, synced: 1 })
})
