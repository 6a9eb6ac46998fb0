import { describe, expect, it } from 'vitest'
import { playSeeds, range } from './campaign.ts'
import { openKits } from './kits.ts'
import { REGRESSIONS } from './regressions.ts'

const SEEDS = 2000
const LOTS = 8

describe('the simulation', () => {
  // In lots, so that a report says how far it came.
  it.each(Array.from({ length: LOTS }, (_, lot) => 1 + (lot * SEEDS) / LOTS))(
    'holds every invariant in the histories from seed %i on',
    async from => {
      const { failures } = await playSeeds(range(from, SEEDS / LOTS), openKits())
      expect(failures).toEqual([])
    },
    600_000,
  )

  it.each(REGRESSIONS)('holds every invariant where $found', async ({ seed }) => {
    const { failures } = await playSeeds([seed], openKits())
    expect(failures).toEqual([])
  })
})
