import { expect, test } from 'vitest'
import { recordMachines } from '../../../src/daemon/report/machines.ts'
import type { SharedAccount } from '../../../src/shared/account.ts'
import type { MachinesTold } from '../../../src/synced/tables/meta.ts'
import { because, machineInWords } from '../../../src/words/reasons.ts'

test('the log has a store that stays away once, and one that is away for a moment not at all', () => {
  let now = 1_795_262_400_000
  let isAway = false
  let beat = async () => {}
  const noted: string[] = []
  const shared = {
    away: () => (isAway ? { reason: because('store_lost', { where: 'store' }), since: 0 } : null),
    machines: () => [],
    onBeat: told => {
      beat = told
    },
  } as Partial<SharedAccount> as SharedAccount
  recordMachines(
    shared,
    { commit: async () => ({}) as never },
    () => now,
    ({ event }) => noted.push(event),
  )
  /** A beat a second. */
  const beats = (answers: readonly boolean[]) => {
    for (const answer of answers) {
      now += 1000
      isAway = !answer
      void beat()
    }
  }
  beats([true, false, false, true, false, true, false])
  expect(noted).toEqual([])
  beats(Array(20).fill(false))
  expect(noted).toEqual(['store_away'])
  beats([true, true, false, true])
  expect(noted).toEqual(['store_away', 'store_answers'])
})

test('while the store is away, a machine is not called silent, and this machine works', async () => {
  let told: MachinesTold | null = null
  let isAway = true
  let beat = async () => {}
  const facts = { name: 'studio', share: 1 / 8, alone: false, usedToday: 0, albums: [] }
  const shared = {
    machine: { id: 'a', name: 'studio' },
    away: () => (isAway ? { reason: because('store_lost', { where: 'store' }), since: 0 } : null),
    machines: () => [
      { id: 'a', seenMs: 60_000, facts },
      { id: 'b', seenMs: 60_000, facts: { ...facts, name: 'attic' } },
      { id: 'c', seenMs: 60_000, facts: { ...facts, name: 'cellar', share: null } },
    ],
    onBeat: told => {
      beat = told
    },
  } as Partial<SharedAccount> as SharedAccount
  const meta = {
    get: () => null,
    set(_: string, machines: MachinesTold) {
      told = machines
    },
  }
  const commit = async (work: (tx: never) => unknown) => work({ meta } as never)
  recordMachines(
    shared,
    { commit: commit as never },
    () => 1_795_262_400_000,
    () => {},
  )
  const states = async () => {
    await beat()
    return told!.machines.map(({ state }) => state)
  }
  expect(await states()).toEqual(['works', 'unknown', 'ended'])
  isAway = false
  expect(await states()).toEqual(['works', 'silent', 'ended'])
  expect(machineInWords('unknown')).toBe('not heard of while the store is away')
})
