import { AlbumClaims, type Held, LEASE_MS, type Machine } from '../../src/shared/claims.ts'
import type { Store } from '../../src/shared/store.ts'
import { because } from '../../src/words/reasons.ts'
import { VirtualClock } from '../daemon/virtual-clock.ts'
import { FakeRedis } from '../sim/machines/fake-redis.ts'

export const never = new AbortController().signal

/** A store, and machines that claim albums in it. Time passes only where a test says so. */
export function setUp() {
  const clock = new VirtualClock()
  clock.jump(Date.parse('2026-11-21T12:00:00Z'))
  const storeClock = { behindMs: 0 }
  const redis = new FakeRedis(() => clock.wall() - storeClock.behindMs)
  const pass = (ms: number) => clock.pass(ms)
  let processes = 0
  function machine(name: string, albums: string[], kept: { held: Held } = { held: { albums: {}, seen: 0 } }) {
    const state = {
      away: false,
      doubts: [] as boolean[],
      lost: null as Error | null,
      said: 0,
      ready: () => {},
      asked: 0,
    }
    const store: Store = {
      async run(script, keys, args) {
        state.asked++
        if (state.away) return { ok: false, away: { reason: because('paused'), since: 0 } }
        return { ok: true, value: redis.run(script, keys, args) }
      },
      away: () => (state.away ? { reason: because('paused'), since: 0 } : null),
      onReady: ready => void Object.assign(state, { ready }),
      close: async () => {},
    }
    const identity: Machine = {
      id: `id of ${name}`,
      name,
      held: () => kept.held,
      keepHeld: held => void Object.assign(kept, { held }),
    }
    const claims = new AlbumClaims({
      store,
      clock,
      machine: identity,
      albums,
      process: String(processes++),
      mayArriveMs: 60_000,
      onDoubt: why => void state.doubts.push(why !== null),
      onLost: error => void Object.assign(state, { lost: error }),
      say: () => void state.said++,
    })
    return Object.assign(state, { claims, kept, open: () => claims.open(never) })
  }
  /** The store is not new any more. */
  const settle = () => {
    const first = machine('first', ['Elsewhere'])
    const opened = first.open()
    return pass(LEASE_MS + 1).then(() => opened)
  }
  return { redis, storeClock, pass, machine, settle }
}

/** A machine that has the album Photos, in a store that is not new. */
export async function working() {
  const stage = setUp()
  await stage.settle()
  const one = stage.machine('one', ['Photos'])
  await one.open()
  return { ...stage, one }
}
/** Two machines whose albums lie in the same one. */
export async function family() {
  const stage = setUp()
  await stage.settle()
  const [one, two] = [stage.machine('one', ['Family/Ann']), stage.machine('two', ['Family/Ben'])]
  await Promise.all([one.open(), two.open()])
  return { ...stage, one, two }
}
