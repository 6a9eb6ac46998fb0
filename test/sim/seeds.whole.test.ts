import { describe, expect, it } from 'vitest'
import { openKits, playSeeds, range } from './campaign.ts'
import { MACHINES, WIDE } from './histories/seeds.ts'

const LOTS = 8
/** Of the fixed ones. */
const SEEDS = 1000
/** Of all kinds in turn. */
const WIDE_SEEDS = 2400
/** Of those of two machines with one account. */
const MACHINES_SEEDS = 80

describe('the simulation', () => {
  // In lots, so that a report says how far it came.
  it.each([...lots(1, SEEDS), ...lots(WIDE, WIDE_SEEDS), ...lots(MACHINES, MACHINES_SEEDS)])(
    'holds every invariant in the histories from seed %i on: %i of them',
    async (from, count) => {
      const { failures } = await playSeeds(range(from, count), openKits())
      expect(failures).toEqual([])
    },
    600_000,
  )
})

function lots(from: number, seeds: number): [number, number][] {
  return Array.from({ length: LOTS }, (_, lot) => [from + (lot * seeds) / LOTS, seeds / LOTS])
}
