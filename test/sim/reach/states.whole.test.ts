import { expect, it } from 'vitest'
import { openKits, playSeeds } from '../campaign.ts'
import { ALONE, FEW, SELDOM } from '../histories/broad.ts'
import { ALL_KEPT } from '../histories/kept-histories.ts'
import { KEPT_LATER } from '../histories/kept-later.ts'
import { STATES } from './states.ts'

/** Two machines: nobody knows whose an album is. One: a picture is gone, and another of its size was not read yet. */
const DRAWN = [500_000_093, 505_710_175]
const KEPT = 1_000_000_000

it('the kept histories hold every invariant, and bring about each seldom state', async () => {
  const kits = openKits()
  const by = new Map<string, number[]>(Object.keys(STATES).map(state => [state, []]))
  const beginnings = [...ALL_KEPT, ...SELDOM].map(({ seed }) => seed)
  for (const seed of [...beginnings, ...KEPT_LATER.map(({ seed }) => seed), ...DRAWN]) {
    const { failures, seen } = await playSeeds([seed], kits)
    expect(failures).toEqual([])
    // Broad histories begin as no others.
    for (const state of seen.keys()) by.get(state)!.push(beginnings.includes(seed) ? seed - KEPT : 0)
  }
  expect([...by].filter(([, seeds]) => seeds.length === 0)).toEqual([])

  // A state that few bring about is seen seldom, unless broad histories begin as these often.
  const ofOne = [...by.values()].filter(seeds => seeds.length > 0 && seeds.every(seed => seed > 0))
  const missing = ofOne.flatMap(seeds => {
    const often = seeds.length === 1 ? ALONE : seeds.length < 4 ? [...ALONE, ...FEW] : seeds
    return seeds.filter(seed => !often.includes(seed))
  })
  expect([...new Set(missing)].sort()).toEqual([])
})
