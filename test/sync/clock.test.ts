import { describe, expect, it } from 'vitest'
import { FileAges } from '../../src/sync/clock.ts'
import { VirtualClock } from '../daemon/virtual-clock.ts'
import { openWorkshop } from './workshop.ts'

const MINUTE = 60_000
const NOON = 1_800_000_000_123

/** Processes of one boot, one after the other. None of their passes asks how old something is. */
async function machine() {
  const workshop = await openWorkshop()
  const clock = new VirtualClock()
  clock.jump(NOON)
  const start = () => {
    const ages = new FileAges(workshop.synced.meta.get('wall_clock'))
    return {
      pass: () => workshop.pass({ clock, ages }),
      ageOf: (writtenAt: number) => ages.since(writtenAt * 1000, clock),
    }
  }
  return { clock, start }
}

describe('the wall clock is trusted', () => {
  it('from the first pass on', async () => {
    const { clock, start } = await machine()
    const { pass, ageOf } = start()
    await pass()
    await clock.pass(10 * MINUTE)
    expect(ageOf(NOON - MINUTE)).toBe(10 * MINUTE)
  })

  it('from the next pass on, once it was set', async () => {
    const { clock, start } = await machine()
    const { pass, ageOf } = start()
    await pass()
    await clock.pass(10 * MINUTE)
    clock.jump(60 * MINUTE)
    await pass()
    await clock.pass(2 * MINUTE)
    expect(ageOf(NOON)).toBe(2 * MINUTE)
  })

  it('no longer by a process that starts after it was set', async () => {
    const { clock, start } = await machine()
    const before = start()
    expect(before.ageOf(NOON)).toBe(0)
    await before.pass()
    await clock.pass(10 * MINUTE)
    expect(before.ageOf(NOON)).toBe(10 * MINUTE)
    clock.jump(60 * MINUTE)
    expect(before.ageOf(NOON)).toBe(0)
    await before.pass()
    await clock.pass(2 * MINUTE)
    const later = start()
    await later.pass()
    expect(later.ageOf(NOON)).toBe(2 * MINUTE)
    await clock.pass(MINUTE)
    expect(start().ageOf(NOON)).toBe(3 * MINUTE)
  })
})
