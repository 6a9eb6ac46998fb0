import { beforeEach, describe, expect, it } from 'vitest'
import { StaleFolders } from '../../src/daemon/stale-folders.ts'
import { VirtualClock } from './virtual-clock.ts'

let clock: VirtualClock
let stale: StaleFolders
/** When the wait ended; null while it lasts. */
let endedAt: number | null

function wait(mostMs: number, stop = new AbortController().signal): void {
  void stale.wait(mostMs, clock, stop).then(() => {
    endedAt = clock.monotonic()
  })
}

beforeEach(() => {
  clock = new VirtualClock()
  stale = new StaleFolders()
  endedAt = null
})

describe('stale folders', () => {
  it('are taken once, each once', () => {
    stale.add('/m', 'a')
    stale.add('/m', 'a')
    stale.add('/m', 'b')
    stale.add('/n', '')
    expect([...stale.take()]).toEqual([
      ['/m', ['a', 'b']],
      ['/n', ['']],
    ])
    expect(stale.take().size).toBe(0)
  })

  it('are everything where everything is asked for, whatever else is', () => {
    stale.add('/m', 'a')
    stale.add('/m', { everything: true })
    stale.add('/m', 'b')
    expect(stale.take().get('/m')).toBe('everything')
  })
})

describe('waiting for stale folders', () => {
  it('ends when its time is over and none came', async () => {
    wait(60_000)
    await clock.pass(59_999)
    expect(endedAt).toBeNull()
    await clock.pass(1)
    expect(endedAt).toBe(60_000)
  })

  it('ends once a burst of events has paused', async () => {
    wait(60_000)
    await clock.pass(1000)
    for (let n = 0; n < 5; n++) {
      stale.add('/m', 'a')
      await clock.pass(100)
      expect(endedAt).toBeNull()
    }
    await clock.pass(100)
    expect(endedAt).toBe(1600)
  })

  it('ends two seconds after the first event where events never pause', async () => {
    wait(60_000)
    for (let n = 0; n < 30 && endedAt === null; n++) {
      stale.add('/m', 'a')
      await clock.pass(100)
    }
    expect(endedAt).toBe(2000)
  })

  it('ends when its time is over, though events never pause', async () => {
    wait(500)
    for (let n = 0; n < 10 && endedAt === null; n++) {
      stale.add('/m', 'a')
      await clock.pass(100)
    }
    expect(endedAt).toBe(500)
  })

  it('does not forget what came before it', async () => {
    stale.add('/m', 'a')
    wait(60_000)
    await clock.pass(1000)
    expect(endedAt).toBe(200)
  })

  it('ends at once when it is interrupted', async () => {
    const stop = new AbortController()
    wait(60_000, stop.signal)
    await clock.pass(1000)
    stop.abort()
    await clock.pass(0)
    expect(endedAt).toBe(1000)
  })
})
