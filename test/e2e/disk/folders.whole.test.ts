import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png, some } from '../../pictures.ts'
import { startFaultProxy } from '../stage/fault-proxy.ts'
import { configure, loseState, move, setting, syncs } from '../stage/fault-stage.ts'

describe('folders', () => {
  it('with names over 100 characters, or alike in their first 100, have albums of their own for good', async () => {
    const stage = await setting()
    configure(stage)
    const folders = [
      'a'.repeat(99),
      'a'.repeat(100),
      'a'.repeat(101),
      `${'a'.repeat(100)}b`,
      `${'a'.repeat(100)}c`,
      `${'\u00e9'.repeat(127)}`,
      `${'\u{1f600}'.repeat(60)}1`,
      `${'\u{1f600}'.repeat(60)}2`,
      // Looks like what one of the others is shortened to.
      'short~0123456789abcdef',
    ]
    for (const folder of folders) stage.write(`${folder}/${folder}/in it.png`, some())
    expect(await stage.here('sync')).toMatchObject({ code: 0, err: '' })
    const albums = await stage.albums()
    expect(new Set(albums).size).toBe(1 + 2 * folders.length)
    expect(albums.every(album => album.split('/').every(name => [...name].length <= 100))).toBe(true)
    const before = await stage.listing()
    for (const folder of folders) stage.write(`${folder}/later.png`, some())
    expect((await stage.here('sync')).code).toBe(0)
    expect(await stage.albums()).toEqual(albums)
    loseState(stage)
    expect((await stage.here('sync')).code).toBe(0)
    expect(await stage.albums()).toEqual(albums)
    const after = await stage.listing()
    expect(after).toHaveLength(before.length + folders.length)
    expect(after).toEqual(expect.arrayContaining(before))
  })

  it('beyond the depth that the host has albums for share the deepest one, and each picture is its own', async () => {
    const stage = await setting()
    configure(stage)
    const folder = (depth: number) => Array.from({ length: depth }, (_, n) => n + 1).join('/')
    for (let depth = 1; depth <= 14; depth++) stage.write(`${folder(depth)}/at ${depth}.png`, some())
    // Of one name, in the same album.
    for (let depth = 11; depth <= 13; depth++) stage.write(`${folder(depth)}/twin.png`, png(depth, 2).bytes)
    expect(await stage.here('sync')).toMatchObject({ code: 0, err: '' })
    const deepest = `Photos/${folder(9)}`
    const expected = [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(depth => `Photos/${folder(depth)}/at ${depth}.png`),
      ...[9, 10, 11, 12, 13, 14].map(depth => `${deepest}/at ${depth}.png`),
      ...Array<string>(3).fill(`${deepest}/twin.png`),
    ]
    expect(await stage.paths()).toEqual(expected.sort())
    const before = await stage.listing()
    expect((await stage.here('sync')).out).toContain('nothing to do')
    expect(await stage.here('audit', '--config', stage.config)).toMatchObject({ code: 0 })

    loseState(stage)
    // Any picture of the folders that share an album can be any other: an upload has to show how to fetch them first.
    await stage.here('sync')
    stage.write('shows.png', some())
    await stage.here('sync')
    expect((await stage.here('retry', '--config', stage.config)).code).toBe(0)
    expect((await stage.listing()).filter(line => !line.startsWith('Photos/shows.png'))).toEqual(before)

    move(stage, `${folder(14)}/at 14.png`, `${folder(12)}/at 14.png`)
    rmSync(join(stage.pictures, folder(13)), { recursive: true })
    expect((await stage.here('sync')).code).toBe(0)
    const gone = ['at 13.png', 'twin.png']
    const left = [...expected.sort(), 'Photos/shows.png']
    for (const name of gone) left.splice(left.indexOf(`${deepest}/${name}`), 1)
    expect(await stage.paths()).toEqual(left)
  })
})

it('a renamed folder goes up whole before the old one goes, albums and all', async () => {
  const stage = await setting()
  const proxy = await startFaultProxy(stage.baseUrl)
  configure(stage, {}, proxy.baseUrl)
  for (const path of ['old/1.png', 'old/2.png', 'old/below/deep/3.png', 'stays.png'])
    stage.write(path, some())
  await syncs(stage)
  const before = proxy.log.length
  move(stage, 'old', 'new')
  await syncs(stage)
  const kinds = proxy.log.slice(before).map(({ kind }) => kind)
  expect(kinds.filter(kind => kind === 'send')).toHaveLength(3)
  expect(kinds.lastIndexOf('send')).toBeLessThan(kinds.indexOf('delete'))
  // An album is deleted after two looks, a credential's life apart, the innermost first.
  await expect
    .poll(() => stage.here('sync').then(stage.albums), { interval: 1500 })
    .toEqual(['Photos', 'Photos/new', 'Photos/new/below', 'Photos/new/below/deep'])
  await syncs(stage)
})
