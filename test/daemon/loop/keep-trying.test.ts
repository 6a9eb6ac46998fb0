import { describe, expect, it, onTestFinished } from 'vitest'
import { keepTrying } from '../../../src/daemon/loop/supervisor.ts'
import type { Alert } from '../../../src/daemon/notify/health.ts'
import { StateError } from '../../../src/synced/state-error.ts'
import { VirtualClock } from '../virtual-clock.ts'

const MINUTE = 60_000

/** Tries work that fails once with each of these codes, and then runs until it is stopped. */
function start(
  codes: readonly string[],
  wellAfter: (tries: number) => boolean = () => false,
  asked?: () => AbortSignal,
) {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const said: (Alert | null)[] = []
  const tries: number[] = []
  const work = async (allIsWell: () => void) => {
    tries.push(clock.monotonic())
    if (wellAfter(tries.length)) allIsWell()
    const code = codes[tries.length - 1]
    if (code) throw new StateError(code, `${code} in words`)
    allIsWell()
    await clock.sleep(Number.MAX_SAFE_INTEGER, stop.signal)
  }
  const ended = keepTrying(work, trouble => said.push(trouble), clock, stop.signal, asked)
  onTestFinished(async () => {
    stop.abort()
    await ended.catch(() => {})
  })
  return { clock, stop, said, tries, ended }
}

describe('work on a state that fails', () => {
  it('is tried again after a second, then with growing pauses of at most a minute', async () => {
    const { clock, tries } = start(Array(20).fill('STATE_FULL'))
    await clock.pass(5 * MINUTE)
    const pauses = tries.slice(1).map((at, n) => at - tries[n]!)
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, MINUTE, MINUTE, MINUTE])
  })

  it('says once why it failed, and once that it works again', async () => {
    const { clock, said } = start(['STATE_FULL', 'STATE_FULL', 'STATE_BUSY', 'STATE_BUSY'])
    await clock.pass(MINUTE)
    expect(said).toEqual([
      { key: 'STATE', code: 'STATE', message: 'STATE_FULL in words; albumd tries again by itself' },
      { key: 'STATE', code: 'STATE', message: 'STATE_BUSY in words; albumd tries again by itself' },
      null,
    ])
  })

  it('tells a store that is away from a state that fails', async () => {
    const { clock, said } = start(['STORE_AWAY'])
    await clock.pass(MINUTE)
    expect(said).toMatchObject([{ key: 'STORE_AWAY', code: 'STORE_AWAY' }, null])
  })

  it('waits a second again after the state has worked', async () => {
    const codes = [...Array(4).fill('STATE_FULL'), 'STATE_DAMAGED']
    const { clock, tries } = start(codes, tries => tries === 5)
    await clock.pass(MINUTE)
    expect(tries.at(-1)! - tries.at(-2)!).toBe(1000)
  })

  it.each(['STATE_NEWER', 'STATE_OTHER_HOST', 'STATE_UNREADABLE'])(
    'ends with an error that does not pass: %s',
    async code => {
      await expect(start([code]).ended).rejects.toMatchObject({ code })
    },
  )

  it('is tried again for a folder that could be read before', async () => {
    const { clock, tries } = start(['STATE_UNREADABLE'], () => true)
    await clock.pass(MINUTE)
    expect(tries).toHaveLength(2)
  })

  it('is tried again for a folder that was lost during the first pass', async () => {
    const clock = new VirtualClock()
    const stop = new AbortController()
    let tries = 0
    const ended = keepTrying(
      async (_, works) => {
        if (++tries === 1) works()
        if (tries < 3) throw new StateError(tries === 1 ? 'STATE_REPLACED' : 'STATE_UNREADABLE', 'lost')
      },
      () => {},
      clock,
      stop.signal,
    )
    await clock.pass(MINUTE)
    await ended
    expect(tries).toBe(3)
  })

  it('is tried again at once when a person asks for something', async () => {
    const asked = new AbortController()
    const { clock, tries } = start(['STATE_FULL'], undefined, () => asked.signal)
    await clock.pass(10)
    asked.abort()
    await clock.pass(1)
    expect(tries).toEqual([0, 10])
  })

  it('ends when it is interrupted during a pause', async () => {
    const { clock, tries, stop, ended } = start(['STATE_FULL', 'STATE_FULL'])
    await clock.pass(1)
    stop.abort()
    await ended
    expect(tries).toHaveLength(1)
  })
})
