import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { type HostFailure, hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import { deleteUnusedAlbums, recoverAlbumDeletions } from '../../../src/sync/deletions/unused-albums.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { contentOf, countingMore, never, putImage, remoteAlbum } from '../album-stage.ts'
import { failure, openWith, openWorkshop, type Workshop, workshopWith } from '../workshop.ts'

const LIFETIME = 60_000
const LATER = 2 * LIFETIME
const interruption = { stop: never, cut: never }

/** Photos, Photos/a, Photos/a/b and Photos/c, whose folders but c have gone since, with their images. */
async function withEmptied(policy: Partial<MirrorPolicy> = {}): Promise<Workshop> {
  const workshop = await workshopWith(
    { 'a/b/1.png': png(3, 2, 10).bytes, 'c/2.png': png(4, 2, 20).bytes },
    policy,
  )
  rmSync(join(workshop.pictures, 'a'), { recursive: true })
  await workshop.pass()
  // The test's own walks are the first.
  for (const { album } of workshop.synced.unusedAlbums.all())
    workshop.synced.commitNow(tx => tx.unusedAlbums.remove(album))
  return workshop
}

interface Changes {
  host?: ImageHost
  policy?: Partial<MirrorPolicy>
  work?: typeof deleteUnusedAlbums
}

/** `at`: how much later than now it is. Answers the failure that ended the work, or null. */
async function give(
  workshop: Workshop,
  at: number,
  { host = workshop.host, policy = {}, work = deleteUnusedAlbums }: Changes = {},
): Promise<HostFailure | null> {
  const { mirror, events } = workshop
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + at }
  const emit = (emitted: (typeof events)[number]) => void events.push(emitted)
  const parts = {
    ...workshop.context(),
    host,
    clock,
    claims: ALONE,
    emit,
    credentialLifetimeMs: LIFETIME,
    contents: new AlbumContents(),
  }
  const stopped: HostFailure[] = []
  await work(parts, { mirrors: [{ ...mirror, ...policy }], interruption, task: 'mirror', stopped })
  return stopped[0] ?? null
}

const remoteOf = ({ synced }: Workshop, name: string) =>
  synced.albums.all().find(album => album.name === name)?.remote_id
const recorded = ({ synced }: Workshop) =>
  synced.albums
    .all()
    .map(({ name }) => name)
    .sort()
const inPhotos = (workshop: Workshop) => contentOf(workshop.host, remoteOf(workshop, 'Photos')!)

/** The host, which fails the test where something is deleted. */
function untouched(host: ImageHost): ImageHost {
  return hostWith(host, {
    deleteAlbum: async () => {
      throw new Error('no album may be deleted')
    },
  })
}

/** No album is deleted or waits to be, however late it is. */
async function neverGoes(
  workshop: Workshop,
  { host = workshop.host, policy = {} }: Changes = {},
): Promise<void> {
  for (const at of [0, LATER]) await give(workshop, at, { host: untouched(host), policy })
  expect(workshop.synced.unusedAlbums.all()).toEqual([])
}

describe('an album whose folder is gone', () => {
  it('goes after two walks a credential apart, those in it first', async () => {
    const workshop = await withEmptied()
    await give(workshop, 0, { host: untouched(workshop.host) })
    await give(workshop, LIFETIME, { host: untouched(workshop.host) })
    await give(workshop, LATER)
    const gone = workshop.events.flatMap(emitted => (emitted.event === 'album_deleted' ? emitted.album : []))
    expect(gone).toEqual(['Photos/a/b', 'Photos/a'])
    expect(await inPhotos(workshop)).toEqual(['c'])
    expect(recorded(workshop)).toEqual(['Photos', 'c'])
    expect(workshop.synced.unusedAlbums.all()).toEqual([])
  })

  it('is made again where the folder comes back', async () => {
    const workshop = await withEmptied()
    for (const at of [0, LATER]) await give(workshop, at)
    workshop.write('a/b/1.png', png(3, 2, 10).bytes)
    await workshop.pass()
    expect(await inPhotos(workshop)).toEqual(['a', 'c'])
  })

  it('stays where the folder came back meanwhile, and its time begins anew', async () => {
    const workshop = await withEmptied()
    await give(workshop, 0)
    mkdirSync(join(workshop.pictures, 'a/b'), { recursive: true })
    await workshop.pass()
    await give(workshop, LATER, { host: untouched(workshop.host) })
    expect(workshop.synced.unusedAlbums.all()).toEqual([])
  })

  it.each<[string, (workshop: Workshop, album: string) => Promise<unknown>]>([
    ["another person's picture", ({ host }, album) => putImage(host, album, 'x.png', png(9, 9))],
    ["another person's album", ({ host }, album) => remoteAlbum(host, 'x', album)],
  ])('stays where %s is in it, with those above', async (_, put) => {
    const workshop = await withEmptied()
    await give(workshop, 0)
    await put(workshop, remoteOf(workshop, 'b')!)
    for (const at of [LATER, LATER + 3_600_001, 2 * LATER + 3_600_001])
      await give(workshop, at, { host: untouched(workshop.host) })
    expect(await contentOf(workshop.host, remoteOf(workshop, 'b')!)).toHaveLength(1)
  })

  it('stays where its listing does not come out whole', async () => {
    const workshop = await withEmptied()
    const host = hostWith(workshop.host, { list: countingMore(workshop.host) })
    await neverGoes(workshop, { host })
  })

  it('stays where albumd did not make it', async () => {
    const workshop = await openWorkshop()
    const photos = await remoteAlbum(workshop.host, 'Photos', null)
    await remoteAlbum(workshop.host, 'a', photos)
    workshop.write('a/1.png', png(3, 2, 10).bytes)
    workshop.write('2.png', png(4, 2, 20).bytes)
    await workshop.pass()
    workshop.remove('a')
    await workshop.pass()
    await neverGoes(workshop)
  })

  it.each<[string, string, Partial<MirrorPolicy>]>([
    ['of a backup', 'Elsewhere', { deletions: 'keep' }],
    ['of a mirror that is out of the config', 'Elsewhere', { folder: '/elsewhere' }],
    ['where such a mirror hangs in it, be its album not made', 'Photos/a/b/deep', {}],
  ])('stays %s', async (_, album, policy) => {
    const workshop = await withEmptied()
    workshop.synced.commitNow(tx => tx.mirrors.add('/elsewhere', album))
    await neverGoes(workshop, { policy })
  })

  it('stays while a mirror is guarded', async () => {
    const workshop = await withEmptied()
    await give(workshop, 0)
    workshop.synced.commitNow(tx => tx.mirrors.guard(1, { code: 'ROOT', reason: said('not there') }))
    await give(workshop, LATER, { host: untouched(workshop.host) })
    expect(await inPhotos(workshop)).toEqual(['a', 'c'])
  })

  it('stays where an upload to it may have been served, or an image is recorded in it', async () => {
    const workshop = await openWith({ 'a/1.png': png(3, 2, 10).bytes, 'c/2.png': png(4, 2, 20).bytes })
    const lost = hostWith(workshop.host, {
      send: async (credential, picture, signal) =>
        picture.fileName === '1.png'
          ? failure('find_out', 'HOST_ANSWER', 'send')
          : workshop.host.send(credential, picture, signal),
    })
    await workshop.pass({ host: lost })
    workshop.remove('a')
    workshop.remove('c')
    workshop.write('d.png', png(5, 5).bytes)
    await workshop.pass({ graceMs: LATER })
    expect(workshop.synced.journal.openUploads()).toHaveLength(1)
    await neverGoes(workshop)
  })
})

describe('a deletion of an album whose answer was lost', () => {
  /** The deletion is served or not; nobody hears of it. */
  async function withLost(served: boolean): Promise<Workshop> {
    const workshop = await withEmptied()
    await give(workshop, 0)
    const host = hostWith(workshop.host, {
      deleteAlbum: async (...args) => {
        if (served) await workshop.host.deleteAlbum(...args)
        return failure('later', 'HOST_UNREACHABLE', 'delete')
      },
    })
    expect(await give(workshop, LATER, { host })).toMatchObject({ code: 'HOST_UNREACHABLE' })
    expect(workshop.synced.unusedAlbums.all()).toMatchObject([{ state: 'empty' }, { state: 'deleting' }])
    return workshop
  }

  it.each([true, false])('is repeated before anything is uploaded; served: %s', async served => {
    const workshop = await withLost(served)
    await give(workshop, LATER, { work: recoverAlbumDeletions })
    expect(recorded(workshop)).toEqual(['Photos', 'a', 'c'])
    expect(await contentOf(workshop.host, remoteOf(workshop, 'a')!)).toEqual([])
  })

  it('is not repeated where something is in the album by then', async () => {
    const workshop = await withLost(false)
    await putImage(workshop.host, remoteOf(workshop, 'b')!, 'x.png', png(9, 9))
    const host = untouched(workshop.host)
    expect(await give(workshop, LATER, { host, work: recoverAlbumDeletions })).toBeNull()
    expect(workshop.synced.unusedAlbums.all()).toMatchObject([{ state: 'empty' }, { state: 'occupied' }])
  })
})

it('an album that the host would not delete is left alone for a while, and the others go', async () => {
  const workshop = await withEmptied()
  const b = remoteOf(workshop, 'b')
  let refusals = 0
  const host = hostWith(workshop.host, {
    deleteAlbum: async (album, signal) => {
      if (album !== b) return workshop.host.deleteAlbum(album, signal)
      refusals++
      return failure('later', 'DELETE_FAILED', 'delete', { status: 500 })
    },
  })
  for (const at of [0, LATER, LATER + 1]) expect(await give(workshop, at, { host })).toBeNull()
  expect(refusals).toBe(1)
})

it('an album that is lost on the host is not asked about again and again', async () => {
  const workshop = await withEmptied()
  await workshop.host.deleteAlbum(remoteOf(workshop, 'a')!, never)
  let asked = 0
  const host = hostWith(workshop.host, {
    list: (...args) => {
      asked++
      return workshop.host.list(...args)
    },
  })
  for (const at of [0, 1, 2]) await give(workshop, at, { host })
  expect(asked).toBe(2)
})
