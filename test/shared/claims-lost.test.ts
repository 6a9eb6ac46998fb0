import { describe, expect, it } from 'vitest'
import { CLAIM } from '../../src/shared/claim-scripts.ts'
import { AlbumTaken, LEASE_MS, RENEW_MS, StoreAway } from '../../src/shared/claims.ts'
import { never, setUp, working } from './claiming-machines.ts'

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
