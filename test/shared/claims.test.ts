import { describe, expect, it } from 'vitest'
import { CLAIM } from '../../src/shared/claim-scripts.ts'
import {
  AlbumClaims,
  AlbumTaken,
  type Held,
  LEASE_MS,
  type Machine,
  RENEW_MS,
  StoreAway,
} from '../../src/shared/claims.ts'
import type { Store } from '../../src/shared/store.ts'
import { because } from '../../src/words/reasons.ts'
import { quiet, Timeline } from '../sim/engine/virtual-clock.ts'
import { FakeRedis } from '../sim/machines/fake-redis.ts'

const never = new AbortController().signal

/** A store, and machines that claim albums in it. Time passes only where a test says so. */
function setUp() {
  const time = new Timeline()
  const storeClock = { behindMs: 0 }
  const redis = new FakeRedis(() => time.now - storeClock.behindMs)
  const clock = {
    wall: () => time.now,
    monotonic: () => time.now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>(resolve => {
        if (signal.aborted) return resolve()
        signal.addEventListener('abort', () => resolve())
        time.after(ms, resolve)
      }),
  }
  async function pass(ms: number): Promise<void> {
    const end = time.now + ms
    await quiet()
    for (let next = time.next(); next !== null && next <= end; next = time.next()) {
      time.advance()
      await quiet()
    }
    time.now = end
  }
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
  return { time, redis, storeClock, pass, machine, settle }
}

/** A machine that has the album Photos, in a store that is not new. */
async function working() {
  const stage = setUp()
  await stage.settle()
  const one = stage.machine('one', ['Photos'])
  await one.open()
  return { ...stage, one }
}

describe('an album', () => {
  it.each([
    ['Photos', 'Photos'],
    ['Photos', 'Photos/2024'],
    ['Photos/2024', 'Photos'],
    ['', 'Photos'],
    ['Photos', ''],
  ])('"%s" of one machine is kept from another that mirrors into "%s"', async (theirs, mine) => {
    const { machine, redis, pass } = setUp()
    redis.clear()
    const one = machine('one', [theirs])
    const opened = one.open()
    await pass(LEASE_MS + 1)
    await opened
    await expect(machine('two', [mine]).open()).rejects.toThrow(AlbumTaken)
    expect(one.claims.doubt()).toBe(null)
  })

  it('that only begins alike is free', async () => {
    const { machine, settle } = setUp()
    await settle()
    await machine('one', ['Photos']).open()
    await expect(machine('two', ['Photos 2', 'Phot', 'A/Photos']).open()).resolves.toBeUndefined()
  })

  it('stays with a machine that is switched off', async () => {
    const { one, machine, pass } = await working()
    await one.claims.close()
    await pass(10 * 3_600_000)
    await expect(machine('two', ['Photos']).open()).rejects.toThrow(
      /belongs to the machine one, last seen 2026-11-2\d .*gone for good/,
    )
  })

  it('is taken over by a person only while its machine does not work', async () => {
    const { one, machine, pass } = await working()
    const two = machine('two', ['Photos/2024'])
    await expect(two.claims.open(never, true)).rejects.toThrow(
      /worked within the last half minute.*--take-album" half a minute later/,
    )
    one.away = true
    await pass(RENEW_MS + LEASE_MS)
    await machine('two', ['Photos/2024']).claims.open(never, true)
    expect(one.claims.doubt()).not.toBe(null)
    one.away = false
    await pass(RENEW_MS)
    expect(one.lost?.message).toMatch(/"Photos\/2024" belongs to the machine two/)
    expect(one.kept.held.albums).toEqual({})
  })

  it('may be deleted from as soon as the store can be reached again', async () => {
    const { one, pass } = await working()
    one.away = true
    await pass(RENEW_MS + LEASE_MS)
    expect(one.doubts.at(-1)).toBe(true)
    one.away = false
    one.ready()
    await pass(0)
    expect(one.doubts.at(-1)).toBe(false)
  })

  it('is given up when no mirror names it any more', async () => {
    const { machine, settle } = setUp()
    await settle()
    const one = machine('one', ['Photos', 'Scans'])
    await one.open()
    await one.claims.close()
    await machine('one', ['Scans']).open()
    await expect(machine('two', ['Photos']).open()).resolves.toBeUndefined()
  })
})

describe('leave to delete', () => {
  it('ends before the lease ends, where the store is away', async () => {
    const { one, pass } = await working()
    one.away = true
    await pass(LEASE_MS - 5001)
    expect(one.claims.doubt()).toBe(null)
    await pass(2)
    expect(one.claims.doubt()).not.toBe(null)
    await pass(RENEW_MS)
    one.away = false
    await pass(RENEW_MS)
    expect(one.claims.doubt()).toBe(null)
    expect(one.doubts).toEqual([false, true, false])
  })

  it('begins for the process after one that was killed once the lease of that one has ended', async () => {
    const { one, machine, pass } = await working()
    one.away = true
    const again = machine('one', ['Photos'], one.kept)
    const opened = again.open()
    await pass(LEASE_MS - 1)
    expect(again.claims.doubt()).not.toBe(null)
    await pass(2)
    await opened
    expect(again.claims.doubt()).toBe(null)
    expect(again.said).toBe(1)
  })

  it('stays with the process that has it, and not with a copy of its state', async () => {
    const { one, machine, pass } = await working()
    const copy = machine('one', ['Photos'], { held: one.kept.held })
    const refused = expect(copy.open()).rejects.toMatchObject({ code: 'STATE_COPIED' })
    await pass(LEASE_MS + 1)
    await refused
    expect(copy.claims.doubt()).not.toBe(null)
    expect(one.claims.doubt()).toBe(null)
    expect(one.lost).toBe(null)
    expect(copy.kept.held.albums).toHaveProperty('Photos')
  })

  it('stays with the process that has it when a copy of its state ends', async () => {
    const { one, machine, pass } = await working()
    const copy = machine('one', ['Photos'], { held: one.kept.held })
    const refused = expect(copy.open()).rejects.toMatchObject({ code: 'STATE_COPIED' })
    await pass(LEASE_MS + 1)
    await refused
    await copy.claims.close()
    await expect(machine('two', ['Photos']).claims.open(never, true)).rejects.toThrow(AlbumTaken)
    expect(one.claims.doubt()).toBe(null)
  })

  it('ends for a process that slept while a copy of its state began', async () => {
    const { one, machine, pass } = await working()
    one.away = true
    await pass(LEASE_MS + RENEW_MS)
    await machine('one', ['Photos'], { held: one.kept.held }).open()
    one.away = false
    await pass(RENEW_MS)
    expect(one.lost).toMatchObject({ code: 'STATE_COPIED' })
  })

  it('begins at once after an end that the store has heard of', async () => {
    const { one, machine, pass } = await working()
    await one.claims.close()
    await pass(1)
    const again = machine('one', ['Photos'])
    await again.open()
    expect(again.claims.doubt()).toBe(null)
  })
})

it('asks a store that is away for nothing at the end', async () => {
  const { one } = await working()
  one.away = true
  const { asked } = one
  await one.claims.close()
  expect(one.asked).toBe(asked)
})

describe('a store that lost everything', () => {
  it('gets a claim back from its machine at once, and leave to delete comes once no older lease is left', async () => {
    const { one, machine, redis, pass } = await working()
    redis.clear()
    const two = machine('two', ['Photos'])
    const opened = two.open()
    await pass(RENEW_MS + 1)
    expect(one.claims.doubt()).not.toBe(null)
    const refused = expect(opened).rejects.toThrow(AlbumTaken)
    await pass(LEASE_MS)
    await refused
    expect(two.said).toBe(1)
    expect(one.claims.doubt()).toBe(null)
  })

  it('does not keep a machine from its own albums', async () => {
    const { one, machine, redis } = await working()
    await one.claims.close()
    redis.clear()
    await expect(machine('one', ['Photos'], one.kept).open()).resolves.toBeUndefined()
  })
})

describe('a store that was put back to an older copy', () => {
  /** Another machine took the album after the copy was made. */
  async function putBack() {
    const stage = await working()
    const { one, redis, machine, pass } = stage
    const older = redis.dump()
    one.away = true
    await pass(LEASE_MS + RENEW_MS)
    const two = machine('two', ['Photos'])
    await two.claims.open(never, true)
    await pass(RENEW_MS)
    redis.start(older)
    return { ...stage, two }
  }

  it('lets no two machines delete, and leaves the album to the machine that took it', async () => {
    const { one, two, pass } = await putBack()
    one.away = false
    one.ready()
    // The machine that slept is the first to ask.
    for (let ms = 0; ms < 3 * LEASE_MS; ms += 1000) {
      await pass(1000)
      expect(one.claims.doubt()).not.toBe(null)
    }
    expect(one.lost).toMatchObject({ code: 'LOCKED' })
    expect(two.lost).toBe(null)
    expect(two.claims.doubt()).toBe(null)
  })

  it('gives an album to the last that took it, however late it comes back', async () => {
    const { one, two, machine, pass } = await putBack()
    two.away = true
    one.away = false
    await pass(3 * LEASE_MS)
    expect(one.claims.doubt()).toBe(null)
    two.away = false
    await pass(LEASE_MS + 2 * RENEW_MS)
    expect(one.lost).toMatchObject({ code: 'LOCKED' })
    expect(two.claims.doubt()).toBe(null)
    await two.claims.close()
    await pass(1)
    const three = machine('three', ['Photos'])
    await three.claims.open(never, true)
    await expect(machine('two', ['Photos'], two.kept).open()).rejects.toThrow(AlbumTaken)
  })

  it('is found out by whoever knows a higher number, though the store was not started again', async () => {
    const { one, redis, machine, pass } = await working()
    const older = redis.dump()
    const two = machine('two', ['Scans'])
    await two.open()
    one.ready()
    await pass(0)
    redis.start(older)
    // As one that runs on: it knows the script.
    redis.run(CLAIM, ['elsewhere'], ['none', '', '', 0, 0, 0])
    one.ready()
    await pass(0)
    expect(one.claims.doubt()).not.toBe(null)
    const three = machine('three', ['Scans'])
    const refused = expect(three.open()).rejects.toThrow(AlbumTaken)
    await pass(LEASE_MS + 1)
    await refused
    await pass(2 * RENEW_MS)
    expect(two.claims.doubt()).toBe(null)
  })
})

it('a store whose clock was set back gives an album to the last that claimed it', async () => {
  const { storeClock, machine, pass, settle } = setUp()
  await settle()
  const one = machine('one', ['Photos', 'Scans'])
  await one.open()
  const older = structuredClone(one.kept)
  await one.claims.close()
  storeClock.behindMs = 3_600_000
  const without = machine('one', ['Scans'], one.kept)
  const opened = without.open()
  await pass(2 * LEASE_MS)
  await opened
  await without.claims.close()
  const two = machine('two', ['Photos'])
  await two.open()
  await pass(1)
  await expect(machine('one', ['Photos', 'Scans'], older).open()).rejects.toMatchObject({ code: 'LOCKED' })
  await pass(RENEW_MS)
  expect(two.claims.doubt()).toBe(null)
})

it('a store that drops a key keeps nobody apart less', async () => {
  const { one, redis, machine, pass } = await working()
  const keys: string[] = []
  redis.evict(all => {
    keys.push(...all)
    return all[0]!
  })
  expect(keys).toEqual(['claims'])
  const two = machine('two', ['Photos'])
  const refused = expect(two.claims.open(never, true)).rejects.toThrow(AlbumTaken)
  await pass(LEASE_MS + 1)
  await refused
  await pass(2 * RENEW_MS)
  expect(one.claims.doubt()).toBe(null)
})

describe('a store that is away at the start', () => {
  it('lets a machine go on with the albums that it has had, without leave to delete', async () => {
    const { machine, pass } = setUp()
    const one = machine('one', ['Photos'], { held: { albums: { Photos: 1 }, seen: 1 } })
    one.away = true
    const opened = one.open()
    await pass(5000)
    await opened
    expect(one.claims.doubt()).not.toBe(null)
  })

  it('gives the machine leave to delete once the store is back, though the process before it had not ended', async () => {
    const { machine, settle, pass } = setUp()
    await settle()
    const before = machine('one', ['Photos'])
    await before.open()
    before.away = true
    const one = machine('one', ['Photos'], before.kept)
    one.away = true
    const opened = one.open()
    await pass(5000)
    await opened
    one.away = false
    await pass(RENEW_MS + LEASE_MS)
    expect(one.lost).toBe(null)
    expect(one.claims.doubt()).toBe(null)
  })

  it('keeps a machine from albums that it has never had', async () => {
    const { machine, pass } = setUp()
    const one = machine('one', ['Photos', 'Scans'], { held: { albums: { Photos: 1 }, seen: 1 } })
    one.away = true
    const refused = expect(one.open()).rejects.toThrow(StoreAway)
    await pass(5000)
    await refused
  })
})

/** Two machines whose albums lie in the same one. */
async function family() {
  const stage = setUp()
  await stage.settle()
  const [one, two] = [stage.machine('one', ['Family/Ann']), stage.machine('two', ['Family/Ben'])]
  await Promise.all([one.open(), two.open()])
  return { ...stage, one, two }
}

describe('an album that two machines need', () => {
  it('is created by one of them, and used by the other', async () => {
    const { one, two, pass } = await family()
    const begun = await one.claims.beginAlbum('Family', never)
    const waiting = two.claims.beginAlbum('Family', never)
    await pass(2000)
    if (begun.kind !== 'create') throw new Error(begun.kind)
    await begun.ended('id of Family')
    await pass(500)
    expect(await waiting).toEqual({ kind: 'made', id: 'id of Family' })
  })

  it('is created by the second once the first has not', async () => {
    const { one, two, pass } = await family()
    const begun = await one.claims.beginAlbum('Family', never)
    if (begun.kind === 'create') await begun.ended(null)
    expect((await two.claims.beginAlbum('Family', never)).kind).toBe('create')
    await pass(1)
  })

  it('waits for as long as a lost request may arrive, and the request leaves in the first half of that time', async () => {
    const { one, two, pass } = await family()
    const begun = await one.claims.beginAlbum('Family', never)
    const waiting = two.claims.beginAlbum('Family', never)
    await pass(59_999)
    expect((await waiting).kind).toBe('wait')
    if (begun.kind !== 'create') throw new Error(begun.kind)
    expect(begun.mayGo()).toBe(true)
    await pass(1)
    expect(begun.mayGo()).toBe(false)
    await pass(60_001)
    expect((await two.claims.beginAlbum('Family', never)).kind).toBe('create')
  })

  it('is not created for as long as an entry lasts, once the store has lost its entries', async () => {
    const { one, two, redis, pass } = await family()
    expect((await one.claims.beginAlbum('Family', never)).kind).toBe('create')
    redis.clear()
    const waiting = two.claims.beginAlbum('Family', never)
    await pass(119_000)
    expect((await waiting).kind).toBe('wait')
    await pass(2 * RENEW_MS)
    expect((await two.claims.beginAlbum('Family', never)).kind).toBe('create')
  })

  it('is not created while the store is away', async () => {
    const { one } = await family()
    one.away = true
    expect((await one.claims.beginAlbum('Family', never)).kind).toBe('wait')
    expect((await one.claims.beginAlbum('Family/Ann', never)).kind).toBe('create')
    expect((await one.claims.beginAlbum('Family/Ann/2024', never)).kind).toBe('create')
  })
})
