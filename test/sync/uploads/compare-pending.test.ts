import { renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PictureFileError } from '../../../src/local/open-file.ts'
import { openPicture } from '../../../src/local/picture-file.ts'
import { kept } from '../../../src/records/escrow.ts'
import { retried } from '../../../src/records/pictures.ts'
import { hostWith, PictureChanged } from '../../../src/remote/host.ts'
import { noteOlder } from '../../../src/sync/clock.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { because } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { ALLOWANCE, green, openWorkshop, red, withoutQuota, workshopWith } from '../workshop.ts'

const asIfLater: Pick<EngineContext, 'openPicture'> = {
  async openPicture(root, path) {
    const open = await openPicture(root, path, { changed: () => new PictureChanged() })
    // The picture's stamp is no longer fresh.
    return { ...open, readAt: open.readAt + 10_000_000 }
  },
}

it('compares while uploads wait: what has the bytes of its image needs none, and what is new is read once', async () => {
  const workshop = await openWorkshop()
  const { synced, pictures, mirror } = workshop
  const read: string[] = []
  const parts: Partial<EngineContext> = {
    openPicture(root, path, cut) {
      read.push(path)
      return asIfLater.openPicture(root, path, cut)
    },
  }
  const summary = () => synced.summaries.mirror(synced.mirrors.of(mirror.folder)!.id)
  for (const name of ['touched.png', 'changed.png']) workshop.write(name, png(2, 2, name.length).bytes)
  await workshop.pass(parts)
  expect(summary()).toMatchObject({ synced: 2, pending_uploads: 0 })

  utimesSync(join(pictures, 'touched.png'), 1, 1)
  workshop.write('changed.png', png(3, 3).bytes)
  workshop.write('new.png', png(4, 4).bytes)
  const host = withoutQuota(workshop.host)
  await workshop.pass({ ...parts, host, concurrency: 1 })
  expect(summary()).toMatchObject({ synced: 1, pending_uploads: 2 })

  read.length = 0
  await workshop.pass({ ...parts, host })
  expect(read).toEqual([])
  await workshop.pass({ ...parts, allowance: { ...ALLOWANCE, plan: 'flagship' } })
  expect(summary()).toMatchObject({ synced: 3, pending_uploads: 0 })
  expect(workshop.events.filter(({ event }) => event === 'picture_uploaded')).toHaveLength(4)
})

it('finds by one put, although the quota is used up, that a touched picture is on the host', async () => {
  const workshop = await openWorkshop()
  const { synced, pictures } = workshop
  workshop.write('touched.png', png(2, 2).bytes)
  await workshop.pass()
  workshop.write('new.png', png(4, 4).bytes)
  const host = withoutQuota(workshop.host)
  await workshop.pass({ ...asIfLater, host })

  utimesSync(join(pictures, 'touched.png'), 1, 1)
  await workshop.pass({ ...asIfLater, host }, 'put')
  expect(synced.summaries.mirror(1)).toMatchObject({ synced: 1, pending_uploads: 1 })
})

describe('pictures that can not be read', () => {
  async function open() {
    const workshop = await workshopWith({ 'touched.png': red, 'named.png': green })
    const { pictures, synced } = workshop
    const read: string[] = []
    const parts: Partial<EngineContext> = {
      async openPicture(root, path, cut) {
        read.push(path)
        if (path !== 'named.png')
          throw new PictureFileError('UNREADABLE', because('file_unreadable', { code: 'EIO' }))
        return asIfLater.openPicture(root, path, cut)
      },
    }
    utimesSync(join(pictures, 'touched.png'), 1, 1)
    workshop.write('new.png', png(4, 4).bytes)
    await workshop.pass(parts)
    read.length = 0
    workshop.events.length = 0
    const failures = () => synced.summaries.failures(10).map(({ path, attempts }) => `${path} ${attempts}`)
    expect(failures()).toEqual(['new.png 1', 'touched.png 1'])
    return { ...workshop, parts, read, failures }
  }

  it.each(['put', 'mirror'] as const)(
    'are tried by no pass of the task %s that names another',
    async task => {
      const { pass, parts, read, failures, events, pictures, mirror, synced, write } = await open()
      for (let n = 1; n <= 3; n++) {
        utimesSync(join(pictures, 'touched.png'), n, n)
        write('named.png', png(5, n).bytes)
        await pass(parts, task, undefined, [mirror], new Set([join(pictures, 'named.png')]))
        expect(synced.summaries.mirror(1)).toMatchObject({
          files: 3,
          synced: 1,
          pending_uploads: 1,
          failed: 1,
        })
      }
      expect(new Set(read)).toEqual(new Set(['named.png']))
      expect(failures()).toEqual(['new.png 1'])
      expect(events.filter(({ event }) => event === 'picture_failed')).toEqual([])
    },
  )

  it('are failed until another try has ended, and counted once', async () => {
    const { synced } = await open()
    const counts = { files: 3, synced: 1, pending_uploads: 0, failed: 2 }
    expect(synced.summaries.mirror(1)).toMatchObject(counts)
    await synced.commit(tx => retried(tx, synced.files.inState('failed')))
    expect(synced.files.inState('pending')).toHaveLength(2)
    expect(synced.summaries.mirror(1)).toMatchObject(counts)
    const place = { mirror: 1, path: 'new.png', above: '', name: 'new.png' }
    expect(synced.summaries.leftAt(place)).toMatchObject({ pending_uploads: 0, failed: 1 })
    expect(synced.summaries.below(1, '').states).toEqual({ synced: 1, failed: 2 })
  })
})

it('tells how many pictures are to be sent, and how many only to be compared', async () => {
  const workshop = await openWorkshop()
  const { pictures, events } = workshop
  for (const name of ['touched.png', 'changed.png', 'moved.png'])
    workshop.write(name, png(2, 2, name.length).bytes)
  const started = () => events.findLast(({ event }) => event === 'uploads_started')
  await workshop.pass(asIfLater, 'adopt')
  expect(started()).toMatchObject({ pictures: 0, bytes: 0, compare: 3 })
  await workshop.pass(asIfLater)
  expect(started()).toMatchObject({ pictures: 3, compare: 0, looks_first: true })

  utimesSync(join(pictures, 'touched.png'), 1, 1)
  await workshop.pass(asIfLater)
  expect(started()).toMatchObject({ pictures: 0, bytes: 0, compare: 1 })
  utimesSync(join(pictures, 'touched.png'), 2, 2)
  const [changed, fresh] = [png(30, 30).bytes, png(40, 40).bytes]
  workshop.write('changed.png', changed)
  workshop.write('new.png', fresh)
  renameSync(join(pictures, 'moved.png'), join(pictures, 'there.png'))
  const moved = png(2, 2, 'moved.png'.length).bytes
  const bytes = changed.length + fresh.length + moved.length
  await workshop.pass(asIfLater)
  expect(started()).toMatchObject({ pictures: 3, bytes, compare: 1, looks_first: false })
  await workshop.synced.commit(noteOlder)
  workshop.write('later.png', png(50, 50).bytes)
  await workshop.pass(asIfLater)
  expect(started()).toMatchObject({ pictures: 1, looks_first: true })
})

it('lets no deletion wait for the quota: new pictures of the same size are read, and a moved one is found', async () => {
  const workshop = await openWorkshop()
  const { synced } = workshop
  for (const name of ['deleted.png', 'moved.png', 'stays.png'])
    workshop.write(name, png(2, 2, name.length).bytes)
  await workshop.pass()
  const images = () => synced.escrow.ofMirror(1).map(({ path }) => path)

  workshop.remove('deleted.png')
  workshop.remove('moved.png')
  workshop.write('new.png', png(2, 2, 100).bytes)
  workshop.write('there.png', png(2, 2, 'moved.png'.length).bytes)
  const host = withoutQuota(workshop.host)
  await workshop.pass({ ...asIfLater, host })
  await workshop.pass({ ...asIfLater, host })
  expect(workshop.events).toContainEqual({
    event: 'image_deleted',
    mirror: workshop.mirror.folder,
    path: 'deleted.png',
    reason: 'deleted',
    moved_to: null,
  })
  expect(images()).toEqual(['moved.png'])
})

describe('a picture that comes back while the quota is used up, and whose image stays for good', () => {
  /** One whose image of red is kept, with no quota left. `isReplaced`: the picture has other bytes by now. */
  async function open(isReplaced: boolean) {
    const workshop = await workshopWith({ 'a/red.png': red })
    const { synced, mirror } = workshop
    const image = synced.images.byHash(synced.images.latest()!.hash)[0]!
    if (isReplaced) workshop.write('a/red.png', green)
    else workshop.remove('a/red.png')
    await workshop.pass({ ...asIfLater, graceMs: 1 })
    await synced.commit(tx => kept(tx, [image.id], 0))
    workshop.write('new.png', png(4, 4).bytes)
    const asked: string[] = []
    const host = hostWith(withoutQuota(workshop.host), {
      list: async (album, page, signal) => {
        asked.push(`${album}`)
        return workshop.host.list(album, page, signal)
      },
    })
    const parts = { ...asIfLater, host }
    await workshop.pass(parts)
    asked.length = 0
    const comeBack = async () => {
      workshop.write('a/red.png', red)
      await workshop.pass(parts)
      const { id: folder } = synced.folders.at(synced.mirrors.of(mirror.folder)!.id, 'a')!
      return synced.files.at({ folder, name: 'red.png' })
    }
    return { synced, image, asked, comeBack }
  }

  it.each([
    ['was deleted', false],
    ['was replaced', true],
  ])('and that %s, is linked to the image without asking the host', async (_, isReplaced) => {
    const { image, asked, comeBack } = await open(isReplaced)
    expect(await comeBack()).toMatchObject({ state: 'synced', image: image.id, flat: 0 })
    expect(asked).toEqual([])
  })

  it.each([
    ['an audit found the image gone', 'gone'],
    ['its album is in doubt', 'album'],
    ['the deletion of the image may have been done', 'deletion'],
  ] as const)('waits for a look at the album where %s', async (_, doubt) => {
    const { synced, image, comeBack } = await open(false)
    const { remote_id, name, album } = image
    await synced.commit(tx => {
      if (doubt === 'gone')
        tx.audit.put({ kind: 'gone', remote_id, album, name, detail: because('not_listed') })
      if (doubt === 'album') tx.albums.doubt(synced.albums.byId(album!)!.remote_id)
      if (doubt === 'deletion') tx.journal.openImageDeletion(image.id, 0)
    })
    expect(await comeBack()).toMatchObject({ state: 'pending', image: null, hash: image.hash })
  })
})
