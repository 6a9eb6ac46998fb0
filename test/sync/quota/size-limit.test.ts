import { expect, it } from 'vitest'
import { hostWith } from '../../../src/remote/host.ts'
import { png } from '../../pictures.ts'
import { ALLOWANCE, failure, openWorkshop, type Workshop } from '../workshop.ts'

/** A host that takes files below `limit` bytes. */
async function openPlan(limit: number) {
  const workshop = await openWorkshop()
  const plan = {
    name: 'professional',
    limit,
    /** Sizes that were asked about in the last pass. */
    asked: [] as number[],
    async pass() {
      plan.asked = []
      const allowance = { ...ALLOWANCE, plan: plan.name }
      await workshop.pass({ host, allowance })
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

const stands = ({ synced }: Workshop) => {
  const { synced: done, failed } = synced.summaries.mirror(1)
  return { done, failed, codes: [...new Set(synced.summaries.failures(99).map(({ code }) => code))] }
}

it('what is too large is asked about once, and again when it has changed', async () => {
  const { workshop, plan } = await openPlan(1000)
  workshop.write('a.png', small)
  workshop.write('b.png', large)
  await plan.pass()
  expect(plan.asked.toSorted((a, b) => a - b)).toEqual([small.length, large.length])
  expect(stands(workshop)).toEqual({ done: 1, failed: 1, codes: ['FILE_TOO_LARGE'] })
  await plan.pass()
  expect(plan.asked).toEqual([])
  workshop.write('b.png', png(4, 4, 9).bytes)
  await plan.pass()
  expect(plan.asked).toEqual([small.length])
  expect(stands(workshop)).toMatchObject({ done: 2, failed: 0 })
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
