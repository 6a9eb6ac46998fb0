import { describe, expect, it } from 'vitest'
import { AlbumTaken, LEASE_MS, RENEW_MS } from '../../src/shared/claims.ts'
import { family, never, setUp, working } from './claiming-machines.ts'

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
