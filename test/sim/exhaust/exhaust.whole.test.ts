import { describe, expect, it } from 'vitest'
import { openKits } from '../campaign.ts'
import { explore, STARTS } from './exhaust.ts'

describe('every world of two pictures in one album', () => {
  // More goes wrong in `npm run sim -- --exhaust`.
  it.each(STARTS)('holds every invariant with a crash at any step: %s', async start => {
    const bounds = { faults: 0, crashes: 1, kinds: 'all', atOnce: 2 } as const
    const { worlds, failures, left } = await explore(start, bounds, openKits())
    expect({ failures, left }).toEqual({ failures: [], left: 0 })
    expect(worlds).toBeGreaterThan(1)
  })
})
