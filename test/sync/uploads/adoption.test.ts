import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { pictureReader } from '../../../src/protocol/likeness/likeness.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { verifyLinks } from '../../../src/sync/uploads/adoption.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { listingWith, never, putImage, remoteAlbum } from '../album-stage.ts'
import {
  counting,
  failure,
  green,
  openWorkshop,
  red,
  summary,
  type Workshop,
  workshopWith,
} from '../workshop.ts'

describe('a new state against a host that holds the pictures', () => {
  it('links them and sends nothing', async () => {
    const workshop = await filled(['a.png', 'b.png', 'sub/c.png'])
    const { synced, sent } = await afresh(workshop)
    expect(sent).toEqual([])
    expect(synced.summaries.mirror(1)).toMatchObject({ linked: 3, synced: 0, pending_uploads: 0 })
    expect(synced.images.linked().map(({ cdn_url }) => cdn_url)).toEqual([null, null, null])
  })

  it('links them too where the host has changed the names of the albums, and knows each name once', async () => {
    const workshop = await filled(['a.png', 'sub/c.png'])
    const { host } = workshop
    const list = listingWith(host, page => ({
      ...page,
      albums: page.albums.map(album => ({ ...album, name: album.name.toUpperCase() })),
    }))
    const createAlbum: ImageHost['createAlbum'] = async ({ name, parent_album = null }) => {
      const listed = await host.list(parent_album, 1, never)
      const value = listed.ok && listed.value.albums.find(album => album.name === name)
      return value ? { ok: true, value } : failure('not_permitted', 'FORBIDDEN', 'create_album')
    }
    const { synced, sent } = await afresh(workshop, { list, createAlbum })
    expect(sent).toEqual([])
    expect(synced.summaries.mirror(1)).toMatchObject({ linked: 2, pending_uploads: 0 })
  })

  it('links them too where the host lists names in another Unicode form and without blanks', async () => {
    const workshop = await filled([' a.png', 'Grüße/ü.png'])
    const changed = (name: string) => name.normalize('NFD').trim()
    const list = listingWith(workshop.host, page => ({
      ...page,
      albums: page.albums.map(album => ({ ...album, name: changed(album.name) })),
      images: page.images.map(image => ({ ...image, name: changed(image.name!) })),
    }))
    const { synced, sent } = await afresh(workshop, { list })
    expect(sent).toEqual([])
    expect(synced.summaries.mirror(1)).toMatchObject({ linked: 2, pending_uploads: 0 })
  })

  it('says once that the state is new, before anything is sent', async () => {
    const workshop = await filled(['a.png', 'sub/c.png'])
    workshop.write('new.png', png(9, 9).bytes)
    const told = () => workshop.events.filter(({ event }) => event === 'new_state')
    expect(told()).toEqual([])
    workshop.events.length = 0
    await afresh(workshop)
    expect(told()).toMatchObject([{ album: expect.stringContaining('Photos'), images: 1 }])
    const order = workshop.events.map(({ event }) => event)
    expect(order.indexOf('new_state')).toBeLessThan(order.indexOf('picture_uploaded'))
  })

  it('sends what is not there', async () => {
    const workshop = await filled(['a.png', 'b.png'])
    workshop.write('new.png', png(9, 9).bytes)
    const { synced, sent } = await afresh(workshop)
    expect(sent).toEqual(['new.png'])
    expect(synced.summaries.mirror(1)).toMatchObject({ linked: 2, synced: 1 })
  })

  it('proves them by their bytes once an upload has shown how addresses look', async () => {
    const workshop = await filled(['a.png', 'b.png'])
    const { synced, parts } = await afresh(workshop)
    expect(await verifyLinks(parts, never)).toMatchObject({ equal: 0, unknown: 2 })
    workshop.write('new.png', png(9, 9).bytes)
    await workshop.pass(parts)
    expect(await verifyLinks(parts, never)).toMatchObject({ equal: 2, unknown: 0 })
    expect(synced.summaries.mirror(1)).toMatchObject({ linked: 0, synced: 3 })
  })

  it('uploads a picture whose link proves to be another', async () => {
    const workshop = await openWorkshop()
    const there = await albumWith(workshop, 'red.png', green)
    workshop.write('red.png', red)
    await workshop.pass()
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ linked: 1 })
    workshop.write('new.png', png(9, 9).bytes)
    await workshop.pass()
    await verifyLinks({ ...workshop.context(), clock: { wall: () => 0 } as never }, never)
    await workshop.pass()
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ linked: 0, synced: 2 })
    expect(await idsIn(workshop, there)).toHaveLength(3)
  })

  it('is not linked again to what proved to be another', async () => {
    const workshop = await openWorkshop()
    await albumWith(workshop, 'red.png', green)
    workshop.write('red.png', red)
    await workshop.pass()
    workshop.write('new.png', png(9, 9).bytes)
    await workshop.pass()
    const parts = workshop.context()
    expect(await verifyLinks(parts, never)).toMatchObject({ other: 1 })
    // As a process does that begins anew.
    await workshop.pass({ contents: new AlbumContents() })
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ linked: 0, synced: 2 })
  })

  it('says what is ambiguous and guesses nothing', async () => {
    const workshop = await openWorkshop()
    await albumWith(workshop, 'red.png', red)
    await albumWith(workshop, 'red.png', green)
    workshop.write('red.png', red)
    const { synced, sent } = await afresh(workshop)
    expect(sent).toEqual([])
    expect(synced.summaries.failures(10)).toMatchObject([{ path: 'red.png', code: 'AMBIGUOUS' }])
  })

  it('decides by bytes between several that can be it, where it can', async () => {
    const workshop = await workshopWith({ 'first.png': png(9, 9).bytes })
    const album = await albumWith(workshop, 'red.png', green)
    await albumWith(workshop, 'red.png', red)
    workshop.write('red.png', red)
    const sent: string[] = []
    await workshop.pass({ host: counting(workshop.host, sent), contents: new AlbumContents() })
    expect(sent).toEqual([])
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ synced: 2, linked: 0, failed: 0 })
    expect(await idsIn(workshop, album)).toHaveLength(3)
  })

  it('tells of one that it knows by its bytes, and not of one that is only looked at again', async () => {
    const workshop = await workshopWith({ 'first.png': png(9, 9).bytes })
    await albumWith(workshop, 'red.png', red)
    workshop.write('red.png', red)
    // Written anew with the same bytes.
    workshop.write('first.png', png(9, 9).bytes)
    workshop.events.length = 0
    await workshop.pass({ contents: new AlbumContents() })
    const told = workshop.events.filter(({ event }) => event === 'picture_unchanged')
    expect(told).toContainEqual(expect.objectContaining({ path: 'red.png', compared: true }))
    expect(told.filter(each => 'compared' in each)).toHaveLength(1)
  })

  it('without a plan that lists, sends', async () => {
    const workshop = await filled(['a.png'])
    const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
    const { sent } = await afresh(workshop, { list })
    expect(sent).toEqual(['a.png'])
  })
})

describe('an old state that came back', () => {
  it('finds by the count that the album holds more, and knows it by its bytes', async () => {
    const workshop = await filled(['a.png'])
    const old = workshop.db.serialize()
    workshop.write('b.png', png(4, 4).bytes)
    await workshop.pass()
    const { synced, sent } = await afresh(workshop, {}, old)
    expect(sent).toEqual([])
    expect(synced.summaries.mirror(1)).toMatchObject({ synced: 2, linked: 0 })
  })

  it.each([2, 25])('finds by the ids that as many of %i are there, but others', async many => {
    const workshop = await filled(Array.from({ length: many }, (_, n) => `${n}.png`))
    const old = workshop.db.serialize()
    workshop.write('0.png', png(4, 4).bytes)
    await workshop.pass()
    await workshop.pass()
    const { synced, sent } = await afresh(workshop, {}, old)
    expect(sent).toEqual([])
    expect(synced.summaries.mirror(1)).toMatchObject({ synced: many, linked: 0 })
  })

  it('that is known to be old and can not list waits, and what is sent all the same creates no album', async () => {
    const workshop = await filled(['a.png'])
    workshop.synced.commitNow(tx => tx.contents.forget())
    workshop.synced.commitNow(tx => tx.meta.set('restored', true))
    workshop.write('b.png', png(4, 4).bytes)
    workshop.write('new/c.png', png(5, 5).bytes)
    const sent: string[] = []
    const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
    const host = hostWith(counting(workshop.host, sent), { list })
    await workshop.pass({ host, contents: new AlbumContents() })
    expect(sent).toEqual([])
    const code = 'STATE_RESTORED'
    expect(workshop.synced.summaries.failures(9)).toMatchObject([
      { path: 'b.png', code },
      { path: 'new/c.png', code },
    ])
    await workshop.synced.commit(tx => {
      for (const failure of workshop.synced.summaries.failures(9)) {
        tx.resend.put(failure)
        tx.files.retry(failure)
      }
    })
    await workshop.pass({ host, contents: new AlbumContents() })
    expect(sent.toSorted()).toEqual(['b.png', 'c.png'])
    expect(workshop.synced.albums.all()).toMatchObject([{ name: 'Photos' }])
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ synced: 3, failed: 0, flat: 1 })
  })
})

describe('a linked image', () => {
  it('is not deleted before its bytes were compared', async () => {
    const workshop = await filled(['a.png', 'b.png'])
    const { synced, parts } = await afresh(workshop)
    workshop.remove('a.png')
    await workshop.pass(parts)
    expect(synced.summaries.mirror(1)).toMatchObject({ held_deletions: 1 })
    const album = synced.albums.named(null, 'Photos')!.remote_id
    expect(await idsIn(workshop, album)).toHaveLength(2)
  })

  it('is deleted once they were, and another one never', async () => {
    const workshop = await openWorkshop()
    const album = await albumWith(workshop, 'other.png', green)
    await albumWith(workshop, 'same.png', red)
    workshop.write('other.png', red)
    workshop.write('same.png', red)
    await workshop.pass()
    workshop.write('first.png', png(9, 9).bytes)
    await workshop.pass()
    workshop.remove('other.png')
    workshop.remove('same.png')
    await workshop.pass()
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ held_deletions: 0, pending_deletions: 0 })
    const page = await workshop.host.list(album, 1, never)
    expect(page).toMatchObject({ value: { images: [{ name: 'other.png' }, { name: 'first.png' }] } })
  })

  it('stays one when its file is touched', async () => {
    const workshop = await filled(['a.png'])
    const { synced, parts } = await afresh(workshop)
    workshop.write('a.png', png(2, 2, 0).bytes)
    await workshop.pass(parts)
    expect(synced.summaries.mirror(1)).toMatchObject({ linked: 1, synced: 0 })
  })
})

describe('an image that is listed since step 1 of an upload, and whose bytes never came', () => {
  it.each([
    ['has come in parts to a host that encodes anew', '40 bytes', 'encoded anew', null],
    ['is listed with the size of few bytes', '0 KB', undefined, null],
    ['was sent by albumd before its state was lost', `${red.length} bytes`, undefined, 'lost_at'],
    ['was asked for by a process that was killed', `${red.length} bytes`, undefined, 'asked_at'],
  ] as const)('is no picture of ours: it %s', async (_, size, delivery, since) => {
    const workshop = await openWorkshop()
    await albumWith(workshop, 'other.png', green)
    workshop.write('red.png', red)
    await workshop.synced.commit(({ meta }) => {
      if (delivery) meta.set('delivery', { png: delivery })
      if (since !== null) meta.set(since, Math.round(workshop.clock.monotonic()))
    })
    const time = new Date(workshop.clock.wall()).toISOString()
    const promised = { id: 'promised-image', name: 'red.png', size, width: 3, height: 2, time }
    const list = listingWith(workshop.host, (page, _, album) => ({
      ...page,
      images: album === null ? page.images : [...page.images, promised],
      pagination: { ...page.pagination, total_images: page.images.length + (album === null ? 0 : 1) },
    }))
    const sent: string[] = []
    const host = counting(workshop.host, sent)
    await workshop.pass({ host: hostWith(host, { list }) })
    expect(summary(workshop)).toMatchObject({ linked: 0, pending_uploads: 1 })
    await workshop.pass({ host, ...later(workshop) })
    expect(summary(workshop)).toMatchObject({ linked: 0, synced: 1 })
    expect(sent).toEqual(['red.png'])
  })
})

/** After the credentials of before have ended. */
function later({ clock }: Workshop): Partial<EngineContext> {
  const ahead = 13 * 60_000
  return { clock: { ...clock, wall: () => clock.wall() + ahead, monotonic: () => clock.monotonic() + ahead } }
}

/** A mirror whose pictures are all on the host. */
async function filled(paths: string[]): Promise<Workshop> {
  const workshop = await openWorkshop()
  for (const [n, path] of paths.entries()) workshop.write(path, png(2, 2, n).bytes)
  await workshop.pass()
  return workshop
}

/** A pass with a state that knows nothing, or only what `old` holds. */
async function afresh(workshop: Workshop, changes: Partial<ImageHost> = {}, old?: Buffer) {
  const synced = openSynced(old ? reopened(old) : openDatabase(':memory:'))
  const sent: string[] = []
  const parts = {
    openPicture: workshop.context().openPicture,
    pictures: pictureReader,
    synced,
    host: hostWith(counting(workshop.host, sent), changes),
    contents: new AlbumContents(),
    clock: workshop.clock,
  } satisfies Partial<EngineContext>
  await workshop.pass(parts)
  return { synced, sent, parts }
}

/** Another person's image in the mirror's album. Answers the album. */
async function albumWith({ host }: Workshop, name: string, bytes: Buffer): Promise<string> {
  const root = await host.list(null, 1, never)
  const known = root.ok ? root.value.albums.find(album => album.name === 'Photos')?.id : undefined
  const album = known ?? (await remoteAlbum(host, 'Photos', null))
  await putImage(host, album, name, { ...png(3, 2), bytes })
  return album
}

async function idsIn({ host }: Workshop, album: string): Promise<string[]> {
  const page = await host.list(album, 1, never)
  if (!page.ok) throw new Error(inWords(page.failure.message))
  return page.value.images.map(({ id }) => id)
}

function reopened(saved: Buffer): Database.Database {
  const db = new Database(saved)
  db.pragma('foreign_keys = ON')
  return db
}

it('asks the host anew: one that is away is not told as one that does not have it', async () => {
  const workshop = await mirrored()
  const list: ImageHost['list'] = async () => failure('later', 'HOST_UNREACHABLE', 'list')
  const { stopped } = await workshop.pass({ host: hostWith(workshop.host, { list }) }, 'adopt')
  expect(stopped).toMatchObject([{ code: 'HOST_UNREACHABLE' }])
  expect(whyWaits(workshop)).toEqual([])
})

it('finds what others put there since albumd looked', async () => {
  const workshop = await mirrored()
  const album = workshop.synced.albums.named(null, 'Photos')!.remote_id
  await putImage(workshop.host, album, 'green.png', png(3, 2, 20))
  await workshop.pass({}, 'adopt')
  expect(summary(workshop)).toMatchObject({ pending_uploads: 0 })
})

it('tells what is not there, and what a plan without a list leaves untold', async () => {
  const workshop = await mirrored()
  await workshop.pass({}, 'adopt')
  const refusal = failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
  const host = hostWith(workshop.host, {
    list: async () => refusal,
    blocks: () => [{ ...refusal.failure, since: 0 }],
  })
  await workshop.pass({ host }, 'adopt')
  expect(whyWaits(workshop)).toEqual([
    'not on the host',
    'the host could not be asked (the host said PLAN_NOT_SUPPORTED)',
  ])
})

/** One picture is on the host, another came since. */
async function mirrored(): Promise<Workshop> {
  const workshop = await workshopWith({ 'red.png': red })
  workshop.write('green.png', green)
  return workshop
}

const whyWaits = ({ events }: Workshop) =>
  events.flatMap(emitted => (emitted.event === 'picture_waits' ? [inWords(emitted.message)] : []))
