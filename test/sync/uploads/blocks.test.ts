import { expect, it } from 'vitest'
import { type Block, hostWith } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'
import { failure, many, openWith, openWorkshop, passAt, red, START, summary } from '../workshop.ts'

const message = said('no')
const notInPlan = { remedy: 'plan', code: 'PLAN_NOT_SUPPORTED', message, since: 0 } as const

it('a quota that is used up is believed until the next probe, and one picture asks then', async () => {
  const workshop = await openWith(many(10))
  let asked = 0
  let taken = false
  const host = hostWith(workshop.host, {
    async requestUpload(...args) {
      asked++
      return taken
        ? workshop.host.requestUpload(...args)
        : failure('quota', 'DAILY_LIMIT_REACHED', 'upload', { status: 429 })
    },
  })
  const at = (minutes: number) => passAt(workshop, minutes, { host })
  await at(0)
  const first = asked
  expect(first).toBeLessThanOrEqual(4)
  for (const minutes of [1, 5, 9, 14]) await at(minutes)
  expect(asked).toBe(first)
  await at(16)
  expect(asked).toBe(first + 1)
  taken = true
  await at(20)
  expect(asked).toBe(first + 1)
  await at(32)
  expect(summary(workshop)).toMatchObject({ synced: 10 })
})

it('an endpoint that the plan shuts is asked about again after probe_every, and its beginning is kept', async () => {
  const workshop = await openWith({ 'red.png': red })
  const unblocked: string[] = []
  const since = workshop.clock.monotonic()
  const host = hostWith(workshop.host, {
    blocks: () => [{ ...notInPlan, endpoint: 'upload', since }],
    unblock: endpoint => unblocked.push(endpoint),
    requestUpload: async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'upload', { status: 403 }),
  })
  const at = (minutes: number) => passAt(workshop, minutes, { host })
  await at(0)
  unblocked.length = 0
  const [first] = workshop.synced.account.blocks()
  await at(14)
  expect(unblocked).toEqual([])
  await at(16)
  expect(unblocked).toEqual(['upload'])
  expect(workshop.synced.account.blocks()).toMatchObject([{ since: first!.since }])
})

it('a block of an endpoint which nobody asked again is recorded as it was', async () => {
  const workshop = await openWorkshop()
  const block: Block = { ...notInPlan, endpoint: 'create_album' }
  const host = hostWith(workshop.host, { blocks: untried => (untried ? [block] : []) })
  await workshop.pass({ host, clock: { ...workshop.clock, wall: () => START, monotonic: () => 60_000 } })
  const said_at = START - 60_000
  expect(workshop.synced.account.blocks()).toMatchObject([
    { endpoint: 'create_album', since: said_at, said_at },
  ])
  await workshop.pass()
  expect(workshop.synced.account.blocks()).toEqual([])
})

it('a plan that lists nothing holds up no upload while a key is tried that was refused', async () => {
  const workshop = await openWith({ 'red.png': red })
  const block: Block = { endpoint: 'list', remedy: 'key', code: 'INVALID_API_KEY', message, since: 0 }
  const host = hostWith(workshop.host, {
    blocks: untried => (untried ? [block] : []),
    list: async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list'),
  })
  expect(await workshop.pass({ host })).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 1 })
})

it('what the host says of a key is recorded before anybody is told of the pass', async () => {
  const workshop = await openWith({ 'red.png': red })
  const block: Block = { endpoint: 'upload', remedy: 'key', code: 'INVALID_API_KEY', message, since: 0 }
  let isRefused = true
  const host = hostWith(workshop.host, {
    blocks: untried => (untried ? [block] : []),
    list: async (...args) =>
      isRefused ? failure('key', 'INVALID_API_KEY', 'list', { status: 401 }) : workshop.host.list(...args),
  })
  const recorded = async () => {
    let atFirst: string[] | null = null
    const emit = () => (atFirst ??= workshop.synced.account.blocks().map(({ code }) => code))
    await workshop.pass({ host, emit })
    return atFirst
  }
  expect(await recorded()).toEqual(['INVALID_API_KEY'])
  isRefused = false
  expect(await recorded()).toEqual([])
})
