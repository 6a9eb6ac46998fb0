import { describe, expect, it } from 'vitest'
import { mostInASecond } from '../../bench/measure/statistics.ts'
import { type Departures, doneAt, openMachine } from './machines-on.ts'
import { noStore, openLine, startStore } from './real-store.ts'

const LIMIT = 50
const HOUR_MS = 3_600_000

const most = (departures: Departures) => mostInASecond(departures.map(({ at }) => at))

describe.skipIf(noStore)('the rate of an account', () => {
  it('is kept in every second by three machines whose clocks are hours apart', async () => {
    const { url } = await startStore()
    const departures: Departures = []
    // A monotonic clock is never negative, however lately this machine was started.
    const machines = [0, 5 * HOUR_MS, 12 * HOUR_MS].map((aheadMs, at) =>
      openMachine(url, `m${at}`, departures, { aheadMs }),
    )
    await Promise.all(machines.map(machine => machine.send(80)))
    expect(departures).toHaveLength(240)
    expect(most(departures)).toBeLessThanOrEqual(LIMIT)
    expect(machines[0]!.shared.machines().map(({ facts }) => facts.name)).toEqual(['m0', 'm1', 'm2'])
  })

  it('gives each machine a fair part while all have work', async () => {
    const { url } = await startStore()
    const departures: Departures = []
    const machines = ['a', 'b', 'c'].map(name => openMachine(url, name, departures))
    await Promise.all(machines.map(machine => machine.send(100)))
    const { length } = departures
    const middle = departures.slice(length * 0.2, length * 0.8)
    for (const name of ['a', 'b', 'c']) {
      const part = middle.filter(({ machine }) => machine === name).length / middle.length
      expect(part).toBeGreaterThan(0.8 / 3)
      expect(part).toBeLessThan(1.2 / 3)
    }
  })

  it('is kept when the store loses everything in between', async () => {
    const store = await startStore()
    const departures: Departures = []
    const machines = ['a', 'b'].map(name => openMachine(store.url, name, departures))
    const sending = machines.map(machine => machine.send(80))
    await expect.poll(() => departures.length).toBeGreaterThan(60)
    await store.say('FLUSHALL')
    await Promise.all(sending)
    expect(departures).toHaveLength(160)
    expect(most(departures)).toBeLessThanOrEqual(LIMIT)
  })

  it('falls to the parts of the machines while the store is away, and comes back with the store', async () => {
    const store = await startStore()
    const departures: Departures = []
    const machines = ['a', 'b'].map(name => openMachine(store.url, name, departures))
    const sending = machines.map(machine => machine.send(120))
    await expect.poll(() => departures.length).toBeGreaterThan(60)
    await store.kill()
    await expect.poll(() => machines.every(({ shared }) => shared.away() !== null)).toBe(true)
    const before = departures.length
    await expect.poll(() => departures.length).toBeGreaterThan(before + 12)
    expect(most(departures.slice(before))).toBeLessThanOrEqual(2 * Math.floor(LIMIT / 8))
    await store.start()
    await expect.poll(() => machines.every(({ shared }) => shared.away() === null)).toBe(true)
    await Promise.all(sending)
    expect(most(departures)).toBeLessThanOrEqual(LIMIT)
  })

  it('leaves its part to a machine that can not reach the store any more', async () => {
    const store = await startStore()
    const line = await openLine(store.port)
    const departures: Departures = []
    const cut = openMachine(line.url, 'cut', departures)
    const there = openMachine(store.url, 'there', departures)
    const sending = there.send(800)
    await cut.send(30)
    line.cut()
    await expect.poll(() => cut.shared.away()).not.toBe(null)
    const before = departures.filter(({ machine }) => machine === 'cut').length
    // For longer than a dead machine keeps its part.
    const alone = cut.send(60)
    await expect.poll(() => departures.filter(({ machine }) => machine === 'cut').length - before).toBe(60)
    await Promise.all([sending, alone])
    expect(most(departures)).toBeLessThanOrEqual(LIMIT)
  })

  it('goes back to the others when a machine is gone', async () => {
    const store = await startStore()
    const line = await openLine(store.port)
    const departures: Departures = []
    const gone = openMachine(line.url, 'gone', departures)
    const there = openMachine(store.url, 'there', departures)
    void gone.send(100)
    const sending = there.send(40)
    await expect.poll(() => departures.length).toBeGreaterThan(40)
    // With places taken, and with no word to the store.
    line.end()
    await sending
    await expect
      .poll(async () => {
        const last = departures.length
        await there.send(LIMIT)
        return most(departures.slice(last).filter(({ machine }) => machine === 'there'))
      })
      .toBe(LIMIT)
  })

  it('is what the host has told one of the machines', async () => {
    const { url } = await startStore()
    const departures: Departures = []
    // The question for the second place takes along what the first answer taught.
    await openMachine(url, 'one', [], { answers: doneAt({ limit: 5 }) }).send(2)
    await openMachine(url, 'other', departures).send(12)
    expect(most(departures)).toBeLessThanOrEqual(5)
  })
})
