import { describe, expect, it } from 'vitest'
import { BEGIN_ALBUM, CLAIM, END_ALBUM, LEAVE } from '../../src/shared/claim-scripts.ts'
import type { Script, Value } from '../../src/shared/store.ts'
import { Random } from '../sim/histories/random.ts'
import { FakeRedis } from '../sim/machines/fake-redis.ts'
import { noStore, runAtLast, startStore, storeOf } from './real-store.ts'

const HOUR_MS = 3_600_000
const KEYS = ['claims']
/** Older and newer than any that a store gives by its clock. */
const NUMBERS = [0, 0, 1, 4_000_000_000_000]
const ALBUMS = ['/', '/A/', '/A/B/', '/AB/', '/C/']

/** One call of a script, of the few machines and albums that meet everywhere. */
function drawCall(random: Random): [Script, string[], (string | number)[]] {
  const me = random.pick(['one', 'two'])
  const process = random.pick(['p', 'q'])
  const album = random.pick(ALBUMS)
  const albums = ALBUMS.filter(() => random.chance(0.3))
  const held = albums.map(each => `${random.pick(NUMBERS)}${each}`)
  // Long or over at once: neither store is to be faster than a lease.
  const lease = random.pick([0, HOUR_MS])
  const claim = [me, process, `name of ${me}`, lease, random.below(2), random.pick(NUMBERS), ...held]
  return random.pick([
    [CLAIM, KEYS, claim],
    [CLAIM, KEYS, claim],
    [LEAVE, KEYS, [me, process]],
    [BEGIN_ALBUM, KEYS, [me, HOUR_MS, album]],
    [END_ALBUM, KEYS, [me, HOUR_MS, album, random.pick(['', 'id'])]],
  ] as [Script, string[], (string | number)[]][])
}

/** Both stores have clocks of their own. */
function roughly(value: Value): Value {
  if (Array.isArray(value)) return value.map(roughly)
  const number = Number(value)
  if (value === null || value === '' || Number.isNaN(number)) return value
  return Math.round(number / HOUR_MS)
}

describe('the Lua of the simulation', () => {
  it.skipIf(noStore)('answers as a real store does, whatever machines do', async () => {
    const redis = await startStore()
    for (let seed = 1; seed <= 30; seed++) {
      const random = new Random(seed)
      const real = storeOf(redis.url, { baseUrl: `https://host-${seed}.example`, key: 'key' })
      const fake = new FakeRedis(() => Date.now())
      // A store knows the script from the second call on.
      const first = [CLAIM, ['elsewhere'], ['one', 'p', 'one', 0, 0, 0]] as const
      await runAtLast(real, ...first)
      fake.run(...first)
      for (let calls = 0; calls < 60; calls++) {
        const [script, keys, args] = drawCall(random)
        const answer = await runAtLast(real, script, keys, args)
        expect(roughly(fake.run(script, keys, args)), `seed ${seed}, call ${calls}`).toEqual(
          roughly(answer as Value),
        )
      }
      await real.close()
    }
  })
})
