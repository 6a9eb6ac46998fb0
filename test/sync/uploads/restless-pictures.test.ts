import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/protocol/clock.ts'
import { FileAges } from '../../../src/sync/clock.ts'
import { IncompletePictures } from '../../../src/sync/uploads/incomplete-pictures.ts'
import { png } from '../../pictures.ts'
import { openWorkshop } from '../workshop.ts'

const SETTLE_MS = 60_000
/** More than are sent at once. */
const NAMES = Array.from({ length: 12 }, (_, number) => `cam${number}.png`)

/** Sent pictures that webcams write over, and that a pass did not send again because they changed while it waited. */
async function withRestless() {
  const workshop = await openWorkshop()
  let written = 0
  const writeOver = () => {
    for (const name of NAMES) workshop.write(`cams/${name}`, png(40, 30, written++).bytes)
  }
  // It stands still within a pass, so that a busy machine lets nothing rest for longer than is said here.
  let nowMs = systemClock.monotonic()
  const clock: Clock = {
    ...systemClock,
    monotonic: () => nowMs,
    async sleep(ms, signal) {
      if (ms < SETTLE_MS / 2) return systemClock.sleep(ms, signal)
      writeOver()
    },
  }
  const ctimeOf = (path: string) => Math.round(statSync(join(workshop.pictures, path)).ctimeMs * 1000)
  /** Only what was written at these moments was left alone for long enough. */
  const rested = new Set<number>()
  const ages = Object.assign(new FileAges(null), {
    since: (ctime: number) => (rested.has(Math.round(ctime)) ? SETTLE_MS : 0),
  })
  const incomplete = new IncompletePictures({ afterMs: 600_000, action: 'leave' })
  const engine = { clock, ages, incomplete, settleMs: SETTLE_MS, credentialLifetimeMs: 600_000 }
  const sent = () =>
    workshop.events.splice(0).flatMap(emitted => (emitted.event === 'picture_uploaded' ? emitted.path : []))
  writeOver()
  await workshop.pass()
  expect(sent()).toHaveLength(NAMES.length)
  writeOver()
  // One at a time, so that none changes just while it is read.
  await workshop.pass({ ...engine, concurrency: 1 })
  expect(sent()).toEqual([])
  return {
    sent,
    writeOver,
    /** Writes a picture that counts as left alone. The kernel gives what is written within one of its ticks the same time. */
    addRested(name: string) {
      do workshop.write(name, png(40, 30, 200).bytes)
      while (ctimeOf(name) === ctimeOf(`cams/${NAMES.at(-1)}`))
      rested.add(ctimeOf(name))
    },
    /** One pass in which nobody may wait for a picture to rest: such a pass would not end. */
    pass(laterMs: number) {
      nowMs += laterMs
      const sleep: Clock['sleep'] = (ms, signal) =>
        ms < SETTLE_MS / 2 ? systemClock.sleep(ms, signal) : new Promise(() => {})
      return workshop.pass({ ...engine, clock: { ...clock, sleep } })
    },
  }
}

it('pictures that are written all the time hold up no other picture', async () => {
  const { sent, writeOver, addRested, pass } = await withRestless()
  for (const name of ['one.png', 'two.png']) {
    writeOver()
    addRested(name)
    await pass(SETTLE_MS)
    expect(sent()).toEqual([name])
  }
})

it('a picture that was written all the time is sent once it was the same for as long as a picture must rest', async () => {
  const { sent, writeOver, pass } = await withRestless()
  writeOver()
  await pass(SETTLE_MS)
  await pass(SETTLE_MS - 1000)
  expect(sent()).toEqual([])
  await pass(1000)
  expect(sent()).toHaveLength(NAMES.length)
})
