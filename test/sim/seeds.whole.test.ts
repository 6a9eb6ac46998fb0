import { describe, expect, it } from 'vitest'
import { openKits, playSeeds, range } from './campaign.ts'
import { LATER, LATEST, READ } from './histories/history.ts'
import { MACHINES } from './machines/machines-history.ts'

const SEEDS = 2000
const LOTS = 8
/** Of those that have a setting of their own. */
const LATER_SEEDS = 1000
/** Of those in which people do all that they may. */
const LATEST_SEEDS = 400
/** Of those whose hosts read the specification in ways of their own. */
const READ_SEEDS = 400
/** Of those of two machines with one account. */
const MACHINES_SEEDS = 80

describe('the simulation', () => {
  // In lots, so that a report says how far it came.
  it.each([
    ...lots(1, SEEDS),
    ...lots(LATER, LATER_SEEDS),
    ...lots(LATEST, LATEST_SEEDS),
    ...lots(READ, READ_SEEDS),
    ...lots(MACHINES, MACHINES_SEEDS),
  ])(
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
