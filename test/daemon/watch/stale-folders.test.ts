import { beforeEach, describe, expect, it } from 'vitest'
import { StaleFolders } from '../../../src/daemon/watch/stale-folders.ts'
import { VirtualClock } from '../virtual-clock.ts'

let clock: VirtualClock
let stale: StaleFolders
/** When the wait ended. Null: it has not ended. */
let endedAt: number | null

function wait(mostMs: number, stop = new AbortController().signal): void {
  void stale.wait(mostMs, stop).then(() => {
    endedAt = clock.monotonic()
  })
}

/** Events come in this rhythm until the wait has ended. */
async function eventsEach(ms: number): Promise<void> {
  for (let n = 0; n < 100 && endedAt === null; n++) {
    stale.add('/m', ['a'])
    await clock.pass(ms)
  }
}

/** Uses up all scans that wait only a short time. */
async function lookOften(): Promise<void> {
  for (let n = 0; n < 30; n++) {
    stale.add('/m', ['a'])
    wait(60_000)
    await clock.pass(5)
    stale.take()
  }
  endedAt = null
}

beforeEach(() => {
  clock = new VirtualClock()
  stale = new StaleFolders(clock)
  endedAt = null
})

describe('stale folders', () => {
  it('are taken once, however often each was added', () => {
    stale.add('/m', ['a'])
    stale.add('/m', ['a'])
    stale.add('/m', ['b'])
    stale.add('/n', [''])
    expect([...stale.take()]).toEqual([
      ['/m', ['a', 'b']],
      ['/n', ['']],
    ])
    expect(stale.take().size).toBe(0)
  })

  it('are the whole mirror after everything was added, even when single folders are added too', () => {
    stale.add('/m', ['a'])
    stale.add('/m', 'everything')
    stale.add('/m', ['b'])
    expect(stale.take().get('/m')).toBe('everything')
  })
})

describe('waiting for stale folders', () => {
  it('ends when its time is over and no event came', async () => {
    wait(60_000)
    await clock.pass(59_999)
    expect(endedAt).toBeNull()
    await clock.pass(1)
    expect(endedAt).toBe(60_000)
  })

  it('ends a few milliseconds after the last event', async () => {
    wait(60_000)
    await clock.pass(1000)
    stale.add('/m', ['a'])
    await clock.pass(100)
    expect(endedAt).toBe(1005)
  })

  it('ends after a short burst time where events do not pause', async () => {
    wait(60_000)
    await eventsEach(4)
    expect(endedAt).toBe(50)
  })

  it('waits for a longer pause after many scans in a row', async () => {
    await lookOften()
    const began = clock.monotonic()
    wait(60_000)
    for (let n = 0; n < 5; n++) {
      stale.add('/m', ['a'])
      await clock.pass(100)
      expect(endedAt).toBeNull()
    }
    await clock.pass(100)
    expect(endedAt).toBe(began + 600)
  })

  it('stays short where the scans find pictures to upload', async () => {
    for (let n = 0; n < 100; n++) {
      stale.add('/m', ['a'])
      endedAt = null
      wait(60_000)
      await clock.pass(5)
      expect(endedAt).toBe(clock.monotonic())
      stale.take()
      stale.uploaded()
    }
  })

  it('then ends two seconds after the first event where events never pause', async () => {
    await lookOften()
    const began = clock.monotonic()
    wait(60_000)
    await eventsEach(100)
    expect(endedAt).toBe(began + 2000)
  })

  it('is short again after a while without scans', async () => {
    await lookOften()
    wait(60_000)
    await clock.pass(10_000)
    stale.add('/m', ['a'])
    await clock.pass(5)
    expect(endedAt).toBe(clock.monotonic())
  })

  it('has a file that is written ten times a second scanned less than six times a second', async () => {
    let looks = 0
    const end = 300_000
    while (clock.monotonic() < end) {
      endedAt = null
      wait(60_000)
      await eventsEach(100)
      stale.take()
      looks++
    }
    expect(looks).toBeLessThan((6 * end) / 1000)
  })

  it('ends when its time is over, though events never pause', async () => {
    await lookOften()
    const began = clock.monotonic()
    wait(500)
    await eventsEach(100)
    expect(endedAt).toBe(began + 500)
  })

  it('ends at once for an event that came before the wait began', async () => {
    stale.add('/m', ['a'])
    wait(60_000)
    await clock.pass(1000)
    expect(endedAt).toBe(5)
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
