import { describe, expect, it } from 'vitest'
import { openKits, playSeeds, range } from './campaign.ts'
import { keptHistory } from './histories/broad.ts'
import { ALL_KEPT } from './histories/kept-histories.ts'
import { REGRESSIONS } from './histories/regressions.ts'
import { GROWING, LATER, LATEST, MACHINES, PAST, READ } from './histories/seeds.ts'

/** Of each kind of histories so many; seeds.whole.test.ts plays more. One of two machines takes as long as ten others. */
const COUNT = 10
const OF_MACHINES = 3

/** Without the kept histories, which states.whole.test.ts plays all. */
const SEEDS = Object.entries(REGRESSIONS).filter(([seed]) => !keptHistory(Number(seed)))

const kits = openKits()

describe('the simulation', () => {
  it('keeps each history under a seed of its own', () => {
    const seeds = ALL_KEPT.map(({ seed }) => seed)
    expect(seeds.filter((seed, at) => seeds.indexOf(seed) !== at)).toEqual([])
  })

  it.each([
    ...[1, LATER, LATEST, READ, GROWING].map(from => ({ from, count: COUNT })),
    { from: MACHINES, count: OF_MACHINES },
    { from: PAST, count: 25 },
  ])('holds every invariant in the first histories from seed $from on', async ({ from, count }) => {
    const { failures } = await playSeeds(range(from, count), kits)
    expect(failures).toEqual([])
  })

  it.each(SEEDS)('holds every invariant in %s: %s', async seed => {
    const { failures } = await playSeeds([Number(seed)], kits)
    expect(failures).toEqual([])
  })
})
