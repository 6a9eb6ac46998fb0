import { beforeEach, onTestFinished, vi } from 'vitest'
import type { SteadyClock } from '../../../src/protocol/clock.ts'
import type { Endpoint } from '../../../src/protocol/endpoints.ts'
import { REQUESTS_PER_SECOND } from '../../../src/protocol/limits.ts'
import { type Attempt, type Gate, type GateOptions, openGate } from '../../../src/remote/gate/gate.ts'
import { NO_PACE, type Pace } from '../../../src/remote/gate/rate-window.ts'
import type { HostFailure, Remedy } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'

export const never = new AbortController().signal

/** Gives each test of a file fake timers, which stand still until the test moves them. */
export function holdTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ loopLimit: 100_000 })
    onTestFinished(() => void vi.useRealTimers())
  })
}

/** A clock on vitest's fake timers. */
export const clock: SteadyClock = {
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise(resolve => {
      setTimeout(resolve, ms)
      signal.addEventListener('abort', () => resolve())
    }),
}

export function gateOf(options: Partial<GateOptions> = {}): Gate {
  return openGate({
    requestsPerSecond: REQUESTS_PER_SECOND,
    concurrency: 8,
    patience: { attempts: 4, maxDelayMs: 2000 },
    clock,
    random: () => 1,
    ...options,
  })
}

export function succeeded(): Attempt<string> {
  return { outcome: { ok: true, value: 'done' }, status: 200, pace: NO_PACE }
}

export function failed(
  endpoint: Endpoint,
  remedy: Remedy,
  code: string,
  status?: number,
  pace: Pace = NO_PACE,
): Attempt<string> {
  const failure: HostFailure = {
    remedy,
    endpoint,
    code,
    message: said(code),
    ...(status !== undefined && { status }),
  }
  return { outcome: { ok: false, failure }, status: status ?? null, pace }
}

export const refused = (endpoint: Endpoint) => failed(endpoint, 'later', 'HOST_UNREACHABLE')

/** Sends requests through the gate, each answered by `answer` after `takesMs`. `starts`: when they left. */
export function through(
  gate: Gate,
  endpoint: Endpoint,
  answer: (now: number) => Attempt<string>,
  takesMs = 1,
) {
  const starts: number[] = []
  const pass = (signal = never) =>
    gate.pass(endpoint, signal, async started => {
      started()
      starts.push(clock.monotonic())
      await clock.sleep(takesMs, never)
      return answer(clock.monotonic())
    })
  return { starts, pass }
}

/** Lets time pass until all the work is done. */
export const all = async <T>(work: Promise<T>[]): Promise<T[]> => {
  const results = Promise.all(work)
  await vi.runAllTimersAsync()
  return results
}

export const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
