import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { type HostFailure, hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { type DeletionRun, deleteImages } from '../../../src/sync/deletions/delete-images.ts'
import type { DiskCheck } from '../../../src/sync/deletions/send-delete.ts'
import { deleteUnusedAlbums, recoverAlbumDeletions } from '../../../src/sync/deletions/unused-albums.ts'
import { deleteWholeAlbums } from '../../../src/sync/deletions/whole-albums.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import type { PassEvent } from '../../../src/sync/pass-events.ts'
import { because } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { contentOf, never, putImage, remoteAlbum } from '../album-stage.ts'
import { audit } from '../audit/audit-stage.ts'
import { failure, openWorkshop, type Workshop, workshopWith } from '../workshop.ts'

const interruption = { stop: never, cut: never }

/** Photos/a with a picture and Photos/a/b with two, whose folder has gone; Photos/c stays. Nothing is deleted yet. */
async function withGone(): Promise<Workshop> {
  const workshop = await workshopWith({
    'a/1.png': png(3, 2, 10).bytes,
    'a/b/2.png': png(3, 2, 20).bytes,
    'a/b/3.png': png(3, 2, 30).bytes,
    'c/4.png': png(3, 2, 40).bytes,
  })
  rmSync(join(workshop.pictures, 'a'), { recursive: true })
  await workshop.pass({ graceMs: 1000 })
  return workshop
}

/** The host, with what is asked to be deleted written down. */
function recorded(host: ImageHost, changes: Partial<ImageHost> = {}): { host: ImageHost; deleted: string[] } {
  const deleted: string[] = []
  return {
    deleted,
    host: hostWith(host, {
      deleteAlbum: (...args) => {
        deleted.push('album')
        return host.deleteAlbum(...args)
      },
      deleteImage: (...args) => {
        deleted.push('image')
        return host.deleteImage(...args)
      },
      ...changes,
    }),
  }
}

/** What speaks against a deletion, and when it is: nothing, and at once, unless said otherwise. */
type Changes = Partial<DiskCheck & Pick<DeletionRun, 'known'> & Pick<EngineContext, 'running'>>

const contextOf = (
  { synced, events }: Workshop,
  host: ImageHost,
  { running = () => 1000 }: Changes = {},
) => ({
  synced,
  clock: systemClock,
  claims: ALONE,
  host,
  running,
  contents: new AlbumContents(),
  tell: (told: PassEvent) => void events.push(told),
})

const runOf = (
  { synced, pictures }: Workshop,
  { known, running: _, ...disk }: Changes = {},
): DeletionRun => ({
  mirror: { id: 1, folder: pictures },
  disk: { doubt: () => null, whyNotGone: () => null, whyThere: () => null, whyRestored: () => null, ...disk },
  known: known ?? new Set(synced.escrow.ofMirror(1).map(({ image }) => image)),
})

const give = (workshop: Workshop, host: ImageHost, changes: Changes = {}) =>
  deleteWholeAlbums(
    contextOf(workshop, host, changes),
    [workshop.mirror],
    runOf(workshop, changes),
    interruption,
  )

const remoteOf = ({ synced }: Workshop, name: string) =>
  synced.albums.all().find(album => album.name === name)!.remote_id

describe('a folder that is gone whole', () => {
  it('goes with one request, and all its records with it', async () => {
    const workshop = await withGone()
    const photos = remoteOf(workshop, 'Photos')
    const intents: number[] = []
    const { host, deleted } = recorded(workshop.host, {
      deleteAlbum: (...args) => {
        intents.push(workshop.synced.journal.open().length)
        deleted.push('album')
        return workshop.host.deleteAlbum(...args)
      },
    })
    expect(await give(workshop, host)).toBeNull()
    expect(deleted).toEqual(['album'])
    expect(intents).toEqual([3])
    expect(await contentOf(workshop.host, photos)).toEqual(['c'])
    const { synced } = workshop
    expect(
      synced.albums
        .all()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['Photos', 'c'])
    expect(synced.journal.open()).toEqual([])
    expect(synced.escrow.ofMirror(1)).toEqual([])
    expect(synced.escrow.weight({ mirror: 1, since: 0 })).toMatchObject({ deleted: 3, in_use: 1 })
    const told = workshop.events.filter(({ event }) => event === 'image_deleted' || event === 'album_deleted')
    expect(told).toHaveLength(4)
    workshop.write('a/1.png', png(3, 2, 10).bytes)
    await workshop.pass()
    expect(await contentOf(workshop.host, remoteOf(workshop, 'a'))).toEqual(['1.png'])
  })

  it('tells when the host took more, and deletes no whole album before an audit has ended', async () => {
    const workshop = await withGone()
    const { synced } = workshop
    const late = hostWith(workshop.host, {
      async deleteAlbum(...args) {
        await putImage(workshop.host, remoteOf(workshop, 'b'), 'x.png', png(9, 9))
        return workshop.host.deleteAlbum(...args)
      },
    })
    expect(await give(workshop, late)).toBeNull()
    const more = {
      album: 'Photos/a',
      recorded: { albums: 2, images: 3 },
      deleted: { albums: 2, images: 4 },
      paths: expect.arrayContaining(['a/1.png', 'a/b/2.png', 'a/b/3.png']),
    }
    expect(workshop.events).toContainEqual({ event: 'deleted_more', ...more })
    expect(synced.meta.get('deleted_more')).toMatchObject(more)

    const asked = recorded(workshop.host)
    const recursive = { host: asked.host, albumDeletions: 'recursive' } as const
    workshop.write('d/5.png', png(3, 2, 50).bytes)
    workshop.remove('c')
    await workshop.pass(recursive)
    expect(asked.deleted).toEqual(['image'])
    await audit(workshop)
    expect(synced.meta.get('deleted_more')).toBeNull()
  })

  it('ends with the first album of which the host took more', async () => {
    const workshop = await openWorkshop()
    for (const name of ['a', 'b', 'c']) workshop.write(`${name}/1.png`, png(3, 2, name.charCodeAt(0)).bytes)
    workshop.write('stays.png', png(3, 2, 1).bytes)
    await workshop.pass()
    for (const name of ['a', 'b', 'c']) rmSync(join(workshop.pictures, name), { recursive: true })
    await workshop.pass({ graceMs: 1000 })
    const asked: string[] = []
    const host = hostWith(workshop.host, {
      async deleteAlbum(id, ...rest) {
        asked.push(id)
        await putImage(workshop.host, id, 'x.png', png(9, 9))
        return workshop.host.deleteAlbum(id, ...rest)
      },
    })
    expect(await give(workshop, host)).toBeNull()
    expect(asked).toHaveLength(1)
  })

  it.each<[string, (workshop: Workshop) => Promise<unknown> | unknown]>([
    ["another person's picture in it", w => putImage(w.host, remoteOf(w, 'b'), 'x.png', png(9, 9))],
    ["another person's album in it", w => remoteAlbum(w.host, 'x', remoteOf(w, 'b'))],
    [
      'a picture that somebody deleted there',
      w =>
        w.host.deleteImage(
          w.synced.images.inAlbum(w.synced.albums.byRemoteId(remoteOf(w, 'b'))!.id)[0]!.remote_id,
          never,
        ),
    ],
    ['a held deletion', w => w.synced.commitNow(tx => tx.escrow.hold(1))],
    [
      'a deletion that may have been done',
      w => w.synced.commitNow(tx => tx.journal.openImageDeletion(w.synced.escrow.ofMirror(1)[0]!.image, 0)),
    ],
  ])('does not go at once with %s in a/b or a', async (_, spoil) => {
    const workshop = await withGone()
    await spoil(workshop)
    const gone: string[] = []
    const { host } = recorded(workshop.host, {
      deleteAlbum: async (album, signal) => {
        gone.push(workshop.synced.albums.byRemoteId(album)!.name)
        return workshop.host.deleteAlbum(album, signal)
      },
    })
    expect(await give(workshop, host)).toBeNull()
    expect(gone).not.toContain('a')
    expect(await contentOf(workshop.host, remoteOf(workshop, 'a'))).toContain('1.png')
  })

  it('does not go at once where one of its pictures is needed, there again or may have moved', async () => {
    const workshop = await withGone()
    const { host, deleted } = recorded(workshop.host)
    await give(workshop, host, {
      whyNotGone: ({ name }) => (name === '2.png' ? because('there_again') : null),
    })
    await give(workshop, host, { doubt: () => because('scan_ended', { folder: '/p' }) })
    await give(workshop, host, { running: () => 999 })
    await give(workshop, host, { known: new Set() })
    workshop.write('elsewhere.png', png(3, 2, 30).bytes)
    await workshop.pass({
      graceMs: 1000,
      host: hostWith(workshop.host, {
        requestUpload: async () => failure('quota', 'DAILY_LIMIT_REACHED', 'upload'),
      }),
    })
    await give(workshop, host)
    expect(deleted).toEqual([])
  })

  it('does not go at once where its folder is back or albumd did not make its album', async () => {
    const workshop = await withGone()
    const { host, deleted } = recorded(workshop.host)
    workshop.synced.commitNow(tx => tx.folders.add(1, 'a'))
    workshop.synced.commitNow(tx => tx.folders.add(1, 'a/b'))
    await give(workshop, host)
    expect(deleted).toEqual([])
    const other = await openWorkshop()
    const photos = await remoteAlbum(other.host, 'Photos', null)
    await remoteAlbum(other.host, 'a', photos)
    other.write('a/1.png', png(3, 2, 10).bytes)
    other.write('2.png', png(4, 2).bytes)
    await other.pass()
    other.remove('a')
    await other.pass({ graceMs: 1000 })
    const there = recorded(other.host)
    await give(other, there.host)
    expect(there.deleted).toEqual([])
  })
})

describe('a request whose answer was lost', () => {
  it.each([true, false])('leaves what is repeated one by one; served: %s', async served => {
    const workshop = await withGone()
    const lost = hostWith(workshop.host, {
      deleteAlbum: async (...args) => {
        if (served) await workshop.host.deleteAlbum(...args)
        return failure('later', 'HOST_UNREACHABLE', 'delete')
      },
    })
    expect(await give(workshop, lost)).toMatchObject({ code: 'HOST_UNREACHABLE' })
    expect(workshop.synced.journal.open()).toHaveLength(3)
    const { host, deleted } = recorded(workshop.host)
    expect(await give(workshop, host)).toBeNull()
    await deleteImages(contextOf(workshop, host), runOf(workshop), interruption)
    expect(deleted).toEqual(['image', 'image', 'image'])
    expect(workshop.synced.escrow.ofMirror(1)).toEqual([])
    expect(workshop.synced.journal.open()).toEqual([])
  })

  it.each([true, false])('keeps uploads out of the album until a look has told; served: %s', async served => {
    const workshop = await withGone()
    const { synced, mirror } = workshop
    const lost = hostWith(workshop.host, {
      deleteAlbum: async () => failure('later', 'HOST_UNREACHABLE', 'delete'),
    })
    expect(await give(workshop, lost)).toMatchObject({ code: 'HOST_UNREACHABLE' })
    // The host carries the request out late: after the first look, and after the end of the pass.
    const context = { ...contextOf(workshop, workshop.host), credentialLifetimeMs: 600_000 }
    const stopped: HostFailure[] = []
    const pass = { mirrors: [mirror], interruption, task: 'mirror', stopped } as const
    await recoverAlbumDeletions(context, pass)
    await deleteUnusedAlbums(context, pass)
    expect(synced.unusedAlbums.all()).toMatchObject([{ state: 'deleting' }])
    if (served) await workshop.host.deleteAlbum(remoteOf(workshop, 'a'), never)
    else {
      const { monotonic, ...clock } = systemClock
      Object.assign(context, { clock: { ...clock, monotonic: () => monotonic() + 3_600_000 } })
    }
    await recoverAlbumDeletions(context, pass)
    expect(stopped).toEqual([])
    const left = synced.albums.all().map(({ name }) => name)
    expect(left.toSorted()).toEqual(served ? ['Photos', 'c'] : ['Photos', 'a', 'b', 'c'])
    expect(synced.escrow.ofMirror(1)).toHaveLength(served ? 0 : 3)
    expect(synced.unusedAlbums.all().filter(({ state }) => state === 'deleting')).toEqual([])
  })

  it('is no doubt where the host said that nothing was done', async () => {
    const workshop = await withGone()
    const host = hostWith(workshop.host, {
      deleteAlbum: async () => failure('later', 'DELETE_FAILED', 'delete', { status: 500 }),
    })
    expect(await give(workshop, host)).toBeNull()
    expect(workshop.synced.journal.open()).toEqual([])
    expect(workshop.synced.escrow.ofMirror(1)).toHaveLength(3)
  })
})
