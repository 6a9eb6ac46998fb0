import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/protocol/clock.ts'
import { ENDPOINTS } from '../../src/protocol/endpoints.ts'
import { type Attempt, openGate } from '../../src/remote/gate/gate.ts'
import { NO_PACE, type Pace } from '../../src/remote/gate/rate-window.ts'
import { openShared, type SharedAccount } from '../../src/shared/account.ts'

export interface TestMachine {
  shared: SharedAccount
  /** Sends so many requests, eight at a time, and resolves when all are answered. */
  send(count: number): Promise<void>
}

/** What a host answers to a request. */
export type Answers = () => Attempt<null>

const done: Answers = () => ({ outcome: { ok: true, value: null }, status: 200, pace: NO_PACE })
export const doneAt = (pace: Partial<Pace>): Answers => {
  return () => ({ ...done(), pace: { ...NO_PACE, ...pace } })
}

/** Departures in milliseconds, in the order of time. */
export type Departures = { at: number; machine: string }[]

/** A machine of the account that uses the store at this address. `aheadMs`: how far its clock is ahead. */
export function openMachine(
  url: string,
  machine: string,
  departures: Departures,
  { limit = 50, share = 1 / 8, aheadMs = 0, answers = done, password = null as string | null } = {},
): TestMachine {
  const clock = { monotonic: () => systemClock.monotonic() + aheadMs, sleep: systemClock.sleep }
  const shared = openShared({
    url,
    password,
    ca: null,
    baseUrl: 'https://images.example.com/api/v1',
    apiKey: 'key-of-the-account',
    machine: { id: `id of ${machine}`, name: machine },
    share,
    usedToday: 0,
    clock,
  })
  const gate = openGate({
    requestsPerSecond: Object.fromEntries(ENDPOINTS.map(endpoint => [endpoint, limit])) as never,
    concurrency: 8,
    patience: { attempts: 4, maxDelayMs: 1000 },
    clock,
    windowOf: shared.windowOf,
  })
  onTestFinished(() => shared.close())
  const never = new AbortController().signal
  const one = () =>
    gate.pass('list', never, async started => {
      departures.push({ at: performance.now(), machine })
      started()
      await systemClock.sleep(5, never)
      return answers()
    })
  return {
    shared,
    async send(count) {
      let left = count
      const worker = async () => {
        while (left-- > 0) await one()
      }
      await Promise.all(Array.from({ length: 8 }, worker))
    },
  }
}
