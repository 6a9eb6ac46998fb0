import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { HOUR_MS, systemClock } from '../../../src/protocol/clock.ts'
import { ALBUM_IN_DOUBT } from '../../../src/sync/albums/index.ts'
import { noteLost } from '../../../src/sync/clock.ts'
import type { Synced } from '../../../src/synced/synced.ts'
import { because } from '../../../src/words/reasons.ts'
import { png, type TestPicture } from '../../pictures.ts'
import { FILE } from '../../synced/rows.ts'
import { tempFolder } from '../../temp-folder.ts'
import { type AlbumStage, found, listingWith, never, openAlbumStage } from '../album-stage.ts'

const SMALL = { ...png(3, 2), name: 'red.png' }
const LARGE = { ...png(90, 90), name: 'green.png' }

/** Records a mirror with one picture in each of its folders. `at`: where it lies. */
function record(synced: Synced, folders: Record<string, TestPicture>, at = '/pictures'): void {
  synced.commitNow(tx => {
    const mirror = tx.mirrors.add(at, '').id
    for (const [path, { name, bytes }] of Object.entries(folders))
      tx.files.put({ ...FILE, folder: tx.folders.add(mirror, path).id, name, size: bytes.length })
  })
}

/** The tree on a host that lists `_` for each character of an album's name. */
function masking({ tree, host }: AlbumStage, credentialLifetimeMs?: number) {
  const masked = <T extends { name: string }>(album: T) => ({
    ...album,
    name: album.name.replace(/./gu, '_'),
  })
  const list = listingWith(host, page => ({ ...page, albums: page.albums.map(masked) }))
  return tree({ list }, credentialLifetimeMs)
}

it.each([
  ['name', { 北: LARGE, 上: SMALL }],
  ['size', { 北: LARGE, 上: { ...SMALL, name: LARGE.name } }],
])(
  'of albums that are listed under one name each goes to the folder whose pictures it shows by %s',
  async (_, of) => {
    const stage = await openAlbumStage()
    const { there, synced, asked } = stage
    const made = new Map<string, string>()
    for (const [name, picture] of Object.entries(of).toReversed()) {
      made.set(name, await there.album(name))
      await there.image(picture, { album_id: made.get(name) })
    }
    record(synced, of)
    const albums = masking(stage)
    const searches = [...made.keys()].map(async name => found(await albums.find([name], never)).remote_id)
    expect(await Promise.all(searches)).toEqual([...made.values()])
    expect(asked).not.toContain('create_album')
  },
)

it('of albums that show the same names and sizes each goes to the folder whose picture is in it', async () => {
  const stage = await openAlbumStage()
  const { there, synced } = stage
  const home = tempFolder()
  const of: Record<string, TestPicture> = { 北: png(3, 2, 1), 上: png(3, 2, 2) }
  const made = new Map<string, string>()
  for (const [name, picture] of Object.entries(of).toReversed()) {
    made.set(name, await there.album(name))
    await there.image(picture, { album_id: made.get(name) })
    mkdirSync(join(home, name))
    writeFileSync(join(home, name, picture.name), picture.bytes)
  }
  record(synced, of, home)
  synced.commitNow(tx => tx.meta.set('cdn_base', there.running.cdnBaseUrl))
  const albums = masking(stage)
  for (const [name, id] of made) expect(found(await albums.find([name], never)).remote_id).toBe(id)
})

it('of albums with the same pictures each goes to the folder in which they lie alike', async () => {
  const stage = await openAlbumStage()
  const { there, synced } = stage
  const outer = await there.album('上')
  await there.image(SMALL, { album_id: await there.album('in', outer) })
  const plain = await there.album('北')
  await there.image(SMALL, { album_id: plain })
  record(synced, { 北: SMALL, '上/in': SMALL })
  const albums = masking(stage)
  expect(found(await albums.find(['北'], never)).remote_id).toBe(plain)
  expect(found(await albums.find(['上'], never)).remote_id).toBe(outer)
})

it('an album that shows more of a folder that has a better one is left to the folder that has none', async () => {
  const stage = await openAlbumStage()
  const { there, synced, asked } = stage
  const theirs = await there.album('上')
  for (const picture of [SMALL, LARGE]) await there.image(picture, { album_id: theirs })
  const ours = await there.album('北')
  await there.image(SMALL, { album_id: ours })
  record(synced, { 北: { ...LARGE, name: SMALL.name }, 上: SMALL })
  expect(found(await masking(stage).find(['北'], never)).remote_id).toBe(ours)
  expect(asked).not.toContain('create_album')
})

it('an album is known by what lies in the albums in it', async () => {
  const stage = await openAlbumStage()
  const { there, synced } = stage
  await there.album('上')
  const outer = await there.album('北')
  await there.image(SMALL, { album_id: await there.album('in', outer) })
  record(synced, { '北/in': SMALL, 上: LARGE })
  const albums = masking(stage)
  expect(found(await albums.find(['北'], never)).remote_id).toBe(outer)
})

it('an album that shows the pictures of another folder is left to this folder', async () => {
  const stage = await openAlbumStage()
  const { there, synced } = stage
  const made = await there.album('上')
  await there.image(SMALL, { album_id: made })
  record(synced, { 北: LARGE, 上: SMALL })
  const albums = masking(stage)
  expect(found(await albums.find(['北'], never))).toMatchObject({ ours: 1 })
  expect(found(await albums.find(['上'], never)).remote_id).toBe(made)
})

it('where nothing tells, each folder takes one, and no other is made', async () => {
  const stage = await openAlbumStage()
  const { there, synced, asked } = stage
  const made = [await there.album('北'), await there.album('上')]
  record(synced, { 北: SMALL, 上: SMALL })
  const albums = masking(stage)
  const [one, other] = await Promise.all(['北', '上'].map(name => albums.find([name], never)))
  expect([found(one!).remote_id, found(other!).remote_id].toSorted()).toEqual(made.toSorted())
  expect(asked).not.toContain('create_album')
})

it('where nothing tells, it is that of the folder whose album was asked for', async () => {
  const stage = await openAlbumStage()
  const { there, synced } = stage
  const only = await there.album('上')
  record(synced, { 北: SMALL, 上: SMALL })
  const sent_at = Math.round(systemClock.monotonic() - HOUR_MS)
  synced.commitNow(tx => tx.journal.openAlbumCreation({ parent: null, name: '上', since: 0, sent_at }))
  const albums = masking(stage)
  expect(found(await albums.find(['北'], never)).remote_id).not.toBe(only)
  expect(found(await albums.find(['上'], never)).remote_id).toBe(only)
})

it('while images from before a loss may arrive, none is taken that may be of another folder', async () => {
  const stage = await openAlbumStage()
  const { there, synced, asked } = stage
  const only = await there.album('北')
  record(synced, { 北: SMALL, 上: LARGE })
  synced.commitNow(tx => noteLost(tx, systemClock.monotonic()))
  expect(await masking(stage, 60_000).find(['北'], never)).toMatchObject({
    failure: { code: ALBUM_IN_DOUBT },
  })
  expect(asked).not.toContain('create_album')
  synced.commitNow(tx => tx.meta.clear('lost_at'))
  expect(found(await masking(stage, 60_000).find(['北'], never)).remote_id).toBe(only)
})

it.each(['北', '上'])('none is taken that may be of another folder while %s is in doubt', async inDoubt => {
  const stage = await openAlbumStage()
  const { there, synced, asked } = stage
  await there.image(SMALL, { album_id: await there.album('北') })
  record(synced, { 北: SMALL, 上: LARGE })
  const { id } = synced.folders.at(1, inDoubt)!
  synced.commitNow(tx =>
    tx.folders.setUnknown({ id, unknown: because('folder_unreadable', { code: 'EIO' }) }),
  )
  expect(await masking(stage).find(['北'], never)).toMatchObject({
    failure: { code: ALBUM_IN_DOUBT, message: expect.stringContaining(`/pictures/${inDoubt}`) },
  })
  expect(asked).not.toContain('create_album')
})

it('an album that has the name of another folder is that of this folder, where nothing tells', async () => {
  const stage = await openAlbumStage()
  const { there, synced } = stage
  const plain = await there.album('a_b')
  record(synced, { 'a-b': SMALL, a_b: LARGE })
  const albums = stage.tree()
  expect(found(await albums.find(['a-b'], never)).remote_id).not.toBe(plain)
  expect(found(await albums.find(['a_b'], never)).remote_id).toBe(plain)
})

it('of twins the one that holds most of ours is used, though another holds more', async () => {
  const { there, synced, tree } = await openAlbumStage()
  const full = await there.album('A')
  await there.image({ ...LARGE, name: 'other.png' }, { album_id: full })
  await there.image({ ...LARGE, name: 'another.png' }, { album_id: full })
  const ours = await there.album('A')
  await there.image(SMALL, { album_id: ours })
  record(synced, { A: SMALL })
  expect(found(await tree().find(['A'], never)).remote_id).toBe(ours)
})
