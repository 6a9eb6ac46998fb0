import { afterEach, describe, expect, it, vi } from 'vitest'
import { queueOf } from '../../../src/remote/gate/gate.ts'

const never = new AbortController().signal
afterEach(() => void vi.useRealTimers().restoreAllMocks())

/** Jobs that end when the test says so. */
function jobs() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    job: (name: string) => () =>
      new Promise<string>(resolve => {
        started.push(name)
        ends.set(name, () => resolve(name))
      }),
    end: (name: string) => ends.get(name)!(),
  }
}

describe.each([
  ['with a limit', 10, ['a', 'b']],
  ['without one', Number.POSITIVE_INFINITY, ['a', 'b', 'c']],
])('the queue of an endpoint %s', (_, limit, first) => {
  it('runs as many jobs at a time as it has places, in the order in which they came', async () => {
    const { started, job, end } = jobs()
    const inTurn = queueOf(2, limit)
    const all = ['a', 'b', 'c'].map(name => inTurn(job(name), never))
    await expect.poll(() => started).toEqual(first)
    end('a')
    await expect.poll(() => started).toEqual(['a', 'b', 'c'])
    end('b')
    end('c')
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
  })

  it('passes on the error of a job, and goes on', async () => {
    const inTurn = queueOf(1, limit)
    await expect(inTurn(() => Promise.reject(new Error('no')), never)).rejects.toThrow('no')
    expect(await inTurn(async () => 'yes', never)).toBe('yes')
  })
})

describe('a queued request', () => {
  it('is answered at once when it is cancelled, and never runs', async () => {
    const { started, job, end } = jobs()
    const inTurn = queueOf(1, 10)
    const first = inTurn(job('a'), never)
    const cancelling = new AbortController()
    const second = inTurn(job('b'), cancelling.signal)
    const third = inTurn(job('c'), never)
    await expect.poll(() => started).toEqual(['a'])
    cancelling.abort()
    expect(await second).toBeNull()
    end('a')
    expect(await first).toBe('a')
    await expect.poll(() => started).toEqual(['a', 'c'])
    end('c')
    expect(await third).toBe('c')
  })
})

describe('when the clock is set back, no request waits for it', () => {
  const setBack = () => {
    const now = Date.now()
    vi.spyOn(Date, 'now').mockReturnValue(now - 3_600_000)
  }

  it('the second request', async () => {
    const { started, job, end } = jobs()
    const inTurn = queueOf(1, 10)
    const first = inTurn(job('a'), never)
    await expect.poll(() => started).toEqual(['a'])
    setBack()
    const second = inTurn(job('b'), never)
    end('a')
    await vi.waitFor(() => expect(started).toEqual(['a', 'b']), { timeout: 10_000 })
    end('b')
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
  })

  it('the first request', async () => {
    vi.useFakeTimers()
    const { started, job, end } = jobs()
    const inTurn = queueOf(1, 10)
    await vi.advanceTimersByTimeAsync(50)
    vi.setSystemTime(Date.now() - 3_600_000)
    const first = inTurn(job('a'), never)
    await vi.advanceTimersByTimeAsync(1000)
    expect(started).toEqual(['a'])
    end('a')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await first).toBe('a')
  })
})
