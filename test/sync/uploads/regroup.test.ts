import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { RecoveryPace } from '../../../src/sync/uploads/recovery.ts'
import { said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { contentOf, never, remoteAlbum } from '../album-stage.ts'
import { ALLOWANCE, counting, failure, imagesOn, openWorkshop, summary, type Workshop } from '../workshop.ts'

const hold = { hold_above: 0.25, hold_min: 2 }

/** The host of an account whose plan has no albums. */
function withoutAlbums(host: ImageHost): ImageHost {
  const refused = failure('plan', 'PLAN_NOT_SUPPORTED', 'create_album')
  return hostWith(host, {
    createAlbum: async () => refused,
    blocks: () => [{ ...refused.failure, since: 0 }],
  })
}

/** Pictures in folders of their own, which all lie in the root of the host. The first is the newest. */
async function withFlat(
  names: readonly string[],
  policy: Partial<MirrorPolicy> = {},
  changes: Partial<EngineContext> = {},
): Promise<Workshop> {
  const workshop = await openWorkshop(policy)
  for (const [at, name] of names.entries()) {
    const path = `${name}/${name}.png`
    workshop.write(path, png(3, 2, at).bytes)
    utimesSync(join(workshop.pictures, path), 1000, 1_700_000_000 - at)
  }
  await workshop.pass({ ...changes, host: withoutAlbums(workshop.host) })
  expect(await contentOf(workshop.host, null)).toEqual(names.map(name => `${name}.png`).sort())
  expect(summary(workshop)).toMatchObject({ synced: names.length, flat: names.length })
  workshop.events.length = 0
  return workshop
}

/** What is in the album of a folder; undefined where there is no such album. */
async function inAlbum({ host }: Workshop, folder: string): Promise<string[] | undefined> {
  const root = await host.list(null, 1, never)
  const photos = root.ok ? root.value.albums.find(({ name }) => name === 'Photos') : undefined
  const below = photos && (await host.list(photos.id, 1, never))
  const album = below?.ok ? below.value.albums.find(({ name }) => name === folder) : undefined
  return album && contentOf(host, album.id)
}

/** Passes, in which the names of what is sent and of the albums that are asked for are written down. */
async function passes(workshop: Workshop, changes: Partial<EngineContext> = {}, times = 1) {
  const sent: string[] = []
  const albums: string[] = []
  const host = changes.host ?? workshop.host
  const createAlbum: ImageHost['createAlbum'] = (album, signal) => {
    if (album.name !== '') albums.push(album.name)
    return host.createAlbum(album, signal)
  }
  for (let at = 0; at < times; at++)
    await workshop.pass({ hold, ...changes, host: counting(hostWith(host, { createAlbum }), sent) })
  return { sent, albums }
}

const six = ['a', 'b', 'c', 'd', 'e', 'f']

it('sends all that lies flat into its album once, and holds none of the old images', async () => {
  const workshop = await withFlat(six)
  expect((await passes(workshop)).sent.sort()).toEqual(six.map(name => `${name}.png`))
  for (const name of six) expect(await inAlbum(workshop, name)).toEqual([`${name}.png`])
  expect((await imagesOn(workshop)).length).toBe(6)
  expect(summary(workshop)).toMatchObject({ synced: 6, flat: 0, pending_deletions: 0, held_deletions: 0 })
  // What was only sent elsewhere does not count later either.
  expect(workshop.synced.escrow.weight({ mirror: 1, since: -1 })).toMatchObject({ deleted: 0 })
  expect(await passes(workshop, {}, 2)).toEqual({ sent: [], albums: [] })
})

it('keeps the old image for its grace', async () => {
  const workshop = await withFlat(['a'])
  await passes(workshop, { graceMs: 1000 })
  expect(await imagesOn(workshop)).toEqual(['a.png', 'a.png'])
  expect(summary(workshop)).toMatchObject({ synced: 1, flat: 0, pending_deletions: 1 })
  await passes(workshop, { running: () => 2000 })
  expect(await imagesOn(workshop)).toEqual(['a.png'])
})

it('leaves them where the config says so, in a backup, and while the plan has no albums', async () => {
  const workshop = await withFlat(['a'])
  expect(await passes(workshop, { regroup: 'never' })).toEqual({ sent: [], albums: [] })
  expect(await passes(workshop, { host: withoutAlbums(workshop.host) })).toEqual({ sent: [], albums: [] })
  expect(summary(workshop)).toMatchObject({ synced: 1, flat: 1 })
  const backup = await withFlat(['a'], { deletions: 'keep' })
  expect(await passes(backup)).toEqual({ sent: [], albums: [] })
  expect(summary(backup)).toMatchObject({ synced: 1, flat: 1 })
})

it('takes no quota that new pictures need, and the newest first', async () => {
  const allowance = { ...ALLOWANCE, limit: 10, reserve: 0.2 }
  const workshop = await withFlat(six, {}, { allowance })
  expect((await passes(workshop, { allowance }, 2)).sent.sort()).toEqual(['a.png', 'b.png'])
  expect(summary(workshop)).toMatchObject({ synced: 6, flat: 4 })
  workshop.write('new.png', png(2, 2, 9).bytes)
  expect((await passes(workshop, { allowance })).sent).toEqual(['new.png'])
})

it('takes none of the reserve either where upload nodes fail and each picture needs several credentials', async () => {
  const allowance = { ...ALLOWANCE, limit: 10, reserve: 0.2 }
  const workshop = await withFlat(six, {}, { allowance })
  let credentials = 0
  const host = hostWith(workshop.host, {
    async requestUpload(request, signal) {
      credentials++
      return workshop.host.requestUpload(request, signal)
    },
    send: async () => failure('new_credential', 'NODE_DOWN', 'send'),
  })
  await passes(workshop, { allowance, host })
  expect(credentials).toBe(2)
  expect(summary(workshop)).toMatchObject({ synced: 6, flat: 6 })
})

it('an answer that is lost costs neither the old image nor a third one', async () => {
  const workshop = await withFlat(['a'])
  const { host, synced } = workshop
  const lost = hostWith(host, {
    async send(credential, picture, signal) {
      await host.send(credential, picture, signal)
      return failure('find_out', 'HOST_UNREACHABLE', 'send')
    },
    fetchDelivered: async () => ({ ok: false, code: 'HOST_UNREACHABLE', message: said('no route') }),
    list: async (album, page, signal) => {
      const listed = await host.list(album, page, signal)
      return listed.ok && album !== null
        ? {
            ok: true,
            value: {
              ...listed.value,
              images: [],
              pagination: { ...listed.value.pagination, total_images: 0 },
            },
          }
        : listed
    },
  })
  expect((await passes(workshop, { host: lost }, 2)).sent).toEqual(['a.png'])
  expect(synced.journal.openUploads()).toHaveLength(1)
  expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 0, flat: 1, pending_deletions: 0 })
  expect((await passes(workshop, { pace: new RecoveryPace() }, 2)).sent).toEqual([])
  expect(await inAlbum(workshop, 'a')).toEqual(['a.png'])
  expect(await imagesOn(workshop)).toEqual(['a.png'])
  expect(summary(workshop)).toMatchObject({ synced: 1, flat: 0 })
})

it('is not kept flat by another version of the picture whose upload stays in doubt', async () => {
  const workshop = await withFlat(['a'])
  const { synced, clock } = workshop
  const { folder, name } = synced.files.flat([1]).next().value!
  await synced.commit(tx =>
    tx.journal.openUpload({
      ...{ folder, name, size: 9, mtime: 1, hash: Buffer.alloc(32), mime: 'image/png', width: 7, height: 7 },
      ...{ cdn_url: null, remote_id: null, album: null },
      ...{ since: clock.wall(), sent_at: Math.round(clock.monotonic()) },
    }),
  )
  expect((await passes(workshop)).sent).toEqual(['a.png'])
  expect(await imagesOn(workshop)).toEqual(['a.png'])
  expect(synced.journal.openUploads()).toHaveLength(1)
  expect(summary(workshop)).toMatchObject({ synced: 1, flat: 0 })
})

it('an album that the host refuses is asked for once, and again when it appears', async () => {
  const workshop = await withFlat(['a', 'b'])
  const { host } = workshop
  const refusing = hostWith(host, {
    createAlbum: async (album, signal) =>
      album.name === 'b'
        ? failure('change_request', 'INVALID_PARAMS', 'create_album')
        : host.createAlbum(album, signal),
  })
  expect(await passes(workshop, { host: refusing })).toMatchObject({ sent: ['a.png'] })
  expect(await passes(workshop, { host: refusing }, 2)).toEqual({ sent: [], albums: [] })
  expect(summary(workshop)).toMatchObject({ synced: 2, flat: 1 })
  const root = await host.list(null, 1, never)
  await remoteAlbum(host, 'b', root.ok ? root.value.albums[0]!.id : null)
  workshop.write('b/new.png', png(2, 2, 9).bytes)
  expect((await passes(workshop, {}, 2)).sent).toEqual(['new.png', 'b.png'])
  expect(summary(workshop)).toMatchObject({ synced: 3, flat: 0 })
  expect(await inAlbum(workshop, 'b')).toEqual(['b.png', 'new.png'])
})

it('a host that answers equal bytes with one id is asked once', async () => {
  const workshop = await withFlat(['a'])
  const { host, synced } = workshop
  const { remote_id, cdn_url } = synced.images.byId(1)!
  const same = hostWith(host, {
    send: async () => ({ ok: true, value: { imageId: remote_id, cdnUrl: cdn_url } }),
  })
  expect((await passes(workshop, { host: same }, 3)).sent).toEqual(['a.png'])
  expect(summary(workshop)).toMatchObject({ synced: 1, flat: 0, pending_deletions: 0 })
  expect(await imagesOn(workshop)).toEqual(['a.png'])
})

it('sends nothing where the host promises the address of the old image: a lost answer could not be found out', async () => {
  const workshop = await withFlat(['a'])
  const { host, synced } = workshop
  const old = synced.images.byId(1)!
  const same = hostWith(host, {
    async requestUpload(...args) {
      const granted = await host.requestUpload(...args)
      return granted.ok ? { ok: true, value: { ...granted.value, cdnUrl: old.cdn_url } } : granted
    },
  })
  expect((await passes(workshop, { host: same }, 3)).sent).toEqual([])
  expect(await imagesOn(workshop)).toHaveLength(1)
  expect(summary(workshop)).toMatchObject({ synced: 1, flat: 1 })
})

it('asks with a single picture whether there is quota again, and then goes on', async () => {
  const workshop = await withFlat(['a', 'b', 'c'])
  const used = hostWith(workshop.host, {
    requestUpload: async () => failure('quota', 'DAILY_LIMIT_REACHED', 'upload'),
  })
  const { sent } = await passes(workshop, { host: used })
  expect(sent).toEqual([])
  const later = {
    ...systemClock,
    wall: () => systemClock.wall() + 2 * 86_400_000,
    monotonic: () => systemClock.monotonic() + 2 * 86_400_000,
  }
  expect((await passes(workshop)).sent).toEqual([])
  expect((await passes(workshop, { clock: later })).sent).toEqual(['a.png'])
  expect((await passes(workshop, { clock: later })).sent.sort()).toEqual(['b.png', 'c.png'])
})
