import { describe, expect, it } from 'vitest'
import { openKits, playSeeds } from './campaign.ts'
import { playMutant } from './mutants/catch-mutant.ts'
import { MUTANTS } from './mutants/mutants.ts'

describe('the simulation notices', () => {
  const kits = openKits()
  // Where a seed no longer shows its mutant, `node test/sim/mutants/find-mutants.ts` finds another.
  it.each(MUTANTS)('$name: $why', async mutant => {
    const { failures: without } = await playSeeds([mutant.seed], kits)
    expect(without).toEqual([])
    const failures = await playMutant(mutant, { from: 0, count: 0, most: 1 })
    expect(failures).toHaveLength(1)
    // A mutant that only stumbles shows nothing.
    expect(['never-throws', 'simulation']).not.toContain(failures[0]!.invariant)
  })
})
