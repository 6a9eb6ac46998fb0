import { describe, expect, it } from 'vitest'
import { openKits, playSeeds, range } from './campaign.ts'
import { WIDE } from './histories/seeds.ts'

const LOTS = 4
/** Of all kinds in turn. */
const SEEDS = 800

describe('the simulation', () => {
  const kits = openKits()
  // In lots, so that a report says how far it came.
  it.each(Array.from({ length: LOTS }, (_, lot) => WIDE + (lot * SEEDS) / LOTS))(
    `holds every invariant in the ${SEEDS / LOTS} histories from seed %i on`,
    async from => {
      const { failures } = await playSeeds(range(from, SEEDS / LOTS), kits)
      expect(failures).toEqual([])
    },
  )
})
