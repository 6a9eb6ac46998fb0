import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { explainPath } from '../../../src/daemon/report/explain.ts'
import {
  locationsOf,
  pathOfImage,
  picturesOf,
  recordedAt,
} from '../../../src/daemon/report/mirrored-pictures.ts'
import { reading } from '../../../src/daemon/state/state.ts'
import { type Recorded, recordPictures } from '../recorded-pictures.ts'

function at({ config }: Recorded, path?: string) {
  return reading(config, async records => {
    const found = locationsOf(config, records, path).map(place => recordedAt(records, place))
    return found.map(one => [one.kind, [...picturesOf(one)].map(picture => picture.path)])
  })
}

it('finds a picture, a folder and a file that no scan has seen, and leaves out images that will be deleted', async () => {
  const recorded = await recordPictures([
    { path: 'a/1.png', bytes: '1' },
    { path: 'a/b/2.png', bytes: '2', state: 'gone' },
    { path: 'a/b/3.png', bytes: '3', state: 'kept' },
    { path: 'a0/4.png', bytes: '4', state: 'linked' },
    { path: 'a b/5.png', bytes: '5', state: 'pending', image: null },
    { path: 'gone/b/6.png', bytes: '6', state: 'kept' },
  ])
  writeFileSync(join(recorded.home, 'pictures/unseen.png'), 'x')
  expect(await at(recorded)).toEqual([['folder', ['a/1.png', 'a/b/3.png', 'a0/4.png', 'gone/b/6.png']]])
  expect(await at(recorded, 'a')).toEqual([['folder', ['a/1.png', 'a/b/3.png']]])
  expect(await at(recorded, 'a/1.png')).toEqual([['picture', ['a/1.png']]])
  expect(await at(recorded, 'a/b/2.png')).toEqual([['picture', []]])
  expect(await at(recorded, 'a b/5.png')).toEqual([['picture', []]])
  // The records have no row for `gone`, because all of its pictures lay below it.
  expect(await at(recorded, 'gone')).toEqual([['folder', ['gone/b/6.png']]])
  expect(await at(recorded, 'unseen.png')).toEqual([['nothing', []]])
  expect(await at(recorded, 'nowhere')).toEqual([['nothing', []]])
  expect(await at(recorded, '/etc')).toEqual([])
})

it('answers every picture once, page by page, and only reads', async () => {
  const pictures = Array.from({ length: 1500 }, (_, n) => ({ path: `f${n % 300}/${n}.png`, bytes: `${n}` }))
  const flat = Array.from({ length: 1200 }, (_, n) => ({ path: `${n}.png`, bytes: `flat ${n}` }))
  const recorded = await recordPictures([...pictures, ...flat])
  const [[kind, paths]] = (await at(recorded)) as [[string, string[]]]
  expect(kind).toBe('folder')
  expect(paths.toSorted()).toEqual([...pictures, ...flat].map(({ path }) => path).toSorted())
})

it('finds a picture by the address that it shows, also where the host has named none', async () => {
  const { home, config } = await recordPictures([
    { path: 'a.png', bytes: '1', image: { cdnUrl: 'https://cdn.example/id-0-a.png' } },
    { path: 'b.png', bytes: '2', image: { cdnUrl: null } },
  ])
  await reading(config, async records => {
    const [all] = locationsOf(config, records, undefined).map(place => recordedAt(records, place))
    const shown = [...picturesOf(all!)].map(({ url }) => url!)
    expect(shown).toHaveLength(2)
    expect(shown.map(address => pathOfImage(records, address))).toEqual(
      ['a.png', 'b.png'].map(name => join(home, 'pictures', name)),
    )
    expect(pathOfImage(records, 'https://cdn.example/id-0-c.png')).toBeNull()
    const told = explainPath(config, join(home, 'pictures', 'b.png'), 0)
    expect(told.map(({ image }) => image?.cdn_url)).toEqual([shown[1]])
  })
})
