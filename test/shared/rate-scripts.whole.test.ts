import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { forgetRefusal, lastRefusal, tellRefusal } from '../../src/shared/account.ts'
import { beat, type MachineFacts } from '../../src/shared/machines.ts'
import { RATE } from '../../src/shared/rate-script.ts'
import type { Script, Store, Value } from '../../src/shared/store.ts'
import { Random } from '../sim/histories/random.ts'
import { FakeRedis } from '../sim/machines/fake-redis.ts'
import { noStore, runAtLast, startStore, storeOf } from './real-store.ts'

const NAMES = [
  ...['places', 'pending', 'line', 'polls', 'facts'].map(name => `${name}:list`),
  'rate',
  'machines',
]

/** The same script at a time that the real store is to take for its own. */
function at(now: number, script: Script): Script {
  const time = `{ '${Math.floor(now / 1000)}', '${(now % 1000) * 1000}' }`
  const lua = script.lua.replaceAll("redis.call('TIME')", time)
  return { lua, digest: hash('sha1', lua), unknown: null }
}

/** What a machine does with the rate and the quota. `given`: places that were asked for. */
function drawAct(random: Random, now: number, given: string[]): (store: Store) => Promise<unknown> {
  const me = random.pick(['one', 'two', 'three'])
  const facts = {
    share: random.pick([1 / 8, 0.5, null]),
    alone: random.chance(0.2),
    name: me,
    usedToday: 7,
    albums: ['A'],
  }
  if (random.chance(0.3)) return store => beat(store, me, facts)
  if (random.chance(0.1)) return store => tellRefusal(store, 5000)
  if (random.chance(0.1)) return lastRefusal
  if (random.chance(0.05)) return forgetRefusal
  const reports = given
    .splice(0, random.below(3))
    .flatMap(id => [id, random.pick(['', String(now + random.below(30))])])
  const id = random.chance(0.8) ? `${me}-${now}` : ''
  if (id) given.push(id)
  const told = [random.pick(['', '', '', '2']), random.below(2), random.pick(['', '', '', '', '', '700'])]
  return store => store.run(RATE, NAMES, [me, id, 8, ...told, ...reports])
}

describe('the Lua of the simulation', () => {
  it.skipIf(noStore)('keeps the rate as a real store does', async () => {
    const redis = await startStore()
    for (let seed = 1; seed <= 30; seed++) {
      const random = new Random(seed)
      const store = storeOf(redis.url, { baseUrl: `https://host-${seed}.example`, key: 'key' })
      let now = 1_795_262_400_000
      const redisOf = new FakeRedis(() => now)
      const storeThat = (run: (...what: Parameters<Store['run']>) => unknown): Store => ({
        ...store,
        run: async (script, names, args) => ({
          ok: true,
          value: (await run(script, names, args)) as Value,
        }),
      })
      const real = storeThat((script, ...what) => runAtLast(store, at(now, script), ...what))
      const fake = storeThat((...what) => redisOf.run(...what))
      const given: string[] = []
      for (let calls = 0; calls < 60; calls++) {
        now += random.pick([1, 20, 100, 300, 1000, 4000])
        const act = drawAct(random, now, given)
        expect(await act(fake), `seed ${seed}, call ${calls}`).toEqual(await act(real))
      }
      await store.close()
    }
  })
})

/** A store of its own time, and a machine `mortal` whose connection can end. */
function storeOfMortal() {
  const at = { now: 1_795_262_400_000, isKilled: false }
  const redis = new FakeRedis(
    () => at.now,
    channel => (at.isKilled && channel === 'machines:mortal' ? 0 : 1),
  )
  const store = {
    run: async (script, names, args) => ({ ok: true, value: redis.run(script, names, args) }),
  } as Store
  const facts = { name: 'one', share: 1 / 8, alone: false, usedToday: 0, albums: [] }
  return {
    at,
    store,
    beats: () => beat(store, 'mortal', facts),
    /** Asks for so many places of four a second. Answers which were given. */
    places: (machine: string, count: number) =>
      Array.from({ length: count }, (_, each) => {
        const [, isPlace] = redis.run(RATE, NAMES, [machine, `${at.now}${each}`, 4, '', 0, '']) as number[]
        return isPlace
      }),
    looks: () => redis.run(RATE, NAMES, ['other', '', 4, '', 0, '']),
  }
}

it('is whole again within ten seconds after a machine was killed that had taken places', async () => {
  const { at, beats, places, looks } = storeOfMortal()
  await beats()
  looks()
  // An empty store gives no places for two seconds.
  at.now += 2200
  await beats()
  expect(places('mortal', 2)).toEqual([1, 1])
  at.isKilled = true
  at.now += 5000
  // Two places may still be used, and the killed machine's part is left to it.
  expect(places('other', 2)).toEqual([1, 0])
  at.now += 4000
  // With the place that it has, these are all four.
  expect(places('other', 4)).toEqual([1, 1, 1, 0])
})

it('leaves a machine its part for two seconds after each of its deaths', async () => {
  const { at, beats, places, looks } = storeOfMortal()
  await beats()
  at.now += 9000
  at.isKilled = true
  looks()
  at.isKilled = false
  at.now += 1000
  await beats()
  // Nobody asks while the machine lives. What it sends last, without the store, still counts.
  at.isKilled = true
  at.now += 9000
  expect(places('other', 4)).toEqual([1, 1, 1, 0])
  at.now += 2200
  // Three places wait for their requests to leave. The fourth was the part.
  expect(places('other', 2)).toEqual([1, 0])
})

it('lists a machine of another version, which tells less of itself', async () => {
  const { beats, store } = storeOfMortal()
  const older = { share: 1 / 8, alone: false, rate: 3, usedToday: 7, albums: ['A'] }
  await beat(store, 'older', older as unknown as MachineFacts)
  await beat(store, 'oldest', {} as MachineFacts)
  const listed = await beats()
  expect(listed?.machines.map(({ facts }) => [facts.name, facts.usedToday, facts.albums])).toEqual([
    ['older', 7, ['A']],
    ['oldest', 0, []],
    ['one', 0, []],
  ])
})
