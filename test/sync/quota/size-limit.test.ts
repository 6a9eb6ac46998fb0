import { expect, it } from 'vitest'
import { hostWith } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { png } from '../../pictures.ts'
import { ALLOWANCE, failure, openWorkshop, type Workshop } from '../workshop.ts'

const DAY_MS = 86_400_000

/** A host that takes files below `limit` bytes, and time that a test lets pass. */
async function openPlan(limit: number) {
  const workshop = await openWorkshop()
  const plan = {
    name: 'professional',
    limit,
    days: 0,
    /** Sizes that were asked about in the last pass. */
    asked: [] as number[],
    async pass(changes: Partial<EngineContext> = {}) {
      plan.asked = []
      const wall = () => Date.parse('2026-11-21T10:00:00Z') + plan.days * DAY_MS
      const allowance = { ...ALLOWANCE, plan: plan.name }
      await workshop.pass({ host, allowance, clock: { ...workshop.clock, wall }, concurrency: 1, ...changes })
    },
  }
  const host = hostWith(workshop.host, {
    async requestUpload(request, signal) {
      plan.asked.push(request.file_size)
      if (request.file_size >= plan.limit)
        return failure('change_picture', 'FILE_TOO_LARGE', 'upload', { status: 400 })
      return workshop.host.requestUpload(request, signal)
    },
  })
  return { workshop, plan }
}

const small = png(4, 4).bytes
const large = png(40, 40).bytes
const larger = png(60, 60).bytes
const largest = png(80, 80).bytes

const stands = ({ synced }: Workshop) => {
  const { synced: done, failed } = synced.summaries.mirror(1)
  return { done, failed, codes: [...new Set(synced.summaries.failures(99).map(({ code }) => code))] }
}

it('a refused size teaches the limit: what is larger fails at once, without a request', async () => {
  const { workshop, plan } = await openPlan(1000)
  workshop.write('a.png', small)
  workshop.write('b.png', large)
  await plan.pass()
  expect(plan.asked.toSorted((a, b) => a - b)).toEqual([small.length, large.length])
  workshop.write('c.png', larger)
  workshop.write('d.png', png(40, 40, 7).bytes)
  await plan.pass()
  expect(plan.asked).toEqual([])
  expect(stands(workshop)).toEqual({ done: 1, failed: 3, codes: ['FILE_TOO_LARGE'] })
  // A smaller version is asked about.
  workshop.write('c.png', png(4, 4, 9).bytes)
  await plan.pass()
  expect(plan.asked).toEqual([small.length])
  expect(stands(workshop)).toMatchObject({ done: 2, failed: 2 })
})

it('once a day the smallest asks, and all are tried where the limit has grown', async () => {
  const { workshop, plan } = await openPlan(1000)
  workshop.write('b.png', large)
  await plan.pass()
  workshop.write('c.png', larger)
  workshop.write('d.png', largest)
  plan.days = 0.9
  await plan.pass()
  expect(plan.asked).toEqual([])
  plan.days = 1
  await plan.pass()
  expect(plan.asked).toEqual([large.length])
  await plan.pass()
  expect(plan.asked).toEqual([])
  plan.limit = largest.length
  plan.days = 2
  await plan.pass()
  await plan.pass()
  expect(stands(workshop)).toMatchObject({ done: 2, failed: 1 })
  // What it learned is the new limit.
  workshop.write('e.png', png(80, 80, 3).bytes)
  await plan.pass()
  expect(plan.asked).toEqual([])
})

it('another plan in the config tries them all again', async () => {
  const { workshop, plan } = await openPlan(1000)
  workshop.write('b.png', large)
  await plan.pass()
  workshop.write('c.png', larger)
  await plan.pass()
  plan.name = 'flagship'
  plan.limit = 1e6
  await plan.pass()
  expect(stands(workshop)).toMatchObject({ done: 2, failed: 0 })
})

it('a refusal of what is smaller than others that were taken says nothing of them', async () => {
  const { workshop, plan } = await openPlan(1e6)
  workshop.write('b.png', larger)
  await plan.pass()
  plan.limit = 100
  workshop.write('c.png', small.length >= 100 ? small : large)
  await plan.pass()
  plan.limit = 1e6
  workshop.write('d.png', largest)
  await plan.pass()
  expect(stands(workshop)).toMatchObject({ done: 2, failed: 1 })
})
