import { expect, it } from 'vitest'
import { openKits, playSeeds } from '../campaign.ts'
import { ALL_KEPT } from '../histories/kept-histories.ts'
import { SELDOM } from '../histories/broad.ts'
import { STATES } from './states.ts'

/** Of two machines: one is not given its albums, and then nobody knows whose they are. */
const MACHINES = [500_000_093]

it('the kept histories hold every invariant, and bring about each state that must be seen sometimes', async () => {
  const seeds = [...ALL_KEPT, ...SELDOM].map(({ seed }) => seed)
  const { failures, seen } = await playSeeds([...seeds, ...MACHINES], openKits())
  expect(failures).toEqual([])
  expect(Object.keys(STATES).filter(state => !seen.has(state))).toEqual([])
})
