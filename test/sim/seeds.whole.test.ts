import { describe, expect, it } from 'vitest'
import { historyOf, openKits, playDryRun, playSeeds, range } from './campaign.ts'
import { PAST, WIDE } from './histories/seeds.ts'

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

  it('brings back six moments each of 300 quiet histories', { timeout: 600_000 }, async () => {
    const { failures } = await playSeeds(range(PAST, 300), kits)
    expect(failures).toEqual([])
  })

  it('does in 300 histories what a dry run has said, and says something in each', {
    timeout: 600_000,
  }, async () => {
    let foretold = 0
    for (let seed = WIDE; foretold < 300; seed++) {
      const history = historyOf(seed)
      if ('machines' in history) continue
      const { violation, said } = await playDryRun(history, kits)
      expect(violation, `seed ${seed}`).toBeNull()
      if (said) foretold++
    }
  })
})
