import { describe, expect, it } from 'vitest'
import type { ImageHost } from '../../../src/remote/host.ts'
import { albumPathOf } from '../../../src/sync/album.ts'
import { png } from '../../pictures.ts'
import { found, lateListing, never, openAlbumStage, times } from '../album-stage.ts'
import { failure, openWorkshop } from '../workshop.ts'

const names = (albums: readonly { name: string }[]) => albums.map(({ name }) => name).sort()

describe('an album whose making is in doubt', () => {
  const lostAnswer = (host: ImageHost): ImageHost['createAlbum'] => {
    return async (...args) => {
      await host.createAlbum(...args)
      return failure('find_out', 'HOST_ANSWER', 'create_album')
    }
  }

  it('is not recorded, and the next search looks again and finds it', async () => {
    const { tree, host, synced, there } = await openAlbumStage()
    const albums = tree({ createAlbum: lostAnswer(host) })
    expect(await albums.find(['Photos'], never)).toMatchObject({ failure: { remedy: 'find_out' } })
    expect(synced.albums.named(null, 'Photos')).toBeUndefined()
    expect(synced.journal.openCreation(null, 'Photos')).toBeDefined()
    const [made] = (await there.list()).albums
    expect(found(await albums.find(['Photos'], never))).toMatchObject({ remote_id: made!.id, ours: 0 })
    expect(synced.journal.openCreation(null, 'Photos')).toBeUndefined()
  })

  it('is not made again as long as the first request may arrive, whoever asks, and then after a second look', async () => {
    const stage = await openAlbumStage()
    const never_listed = await lateListing(stage)
    const lost: ImageHost['createAlbum'] = async () => failure('find_out', 'HOST_ANSWER', 'create_album')
    await stage.tree({ ...never_listed, createAlbum: lost }).find(['Photos'], never)
    const waits = await stage.tree(never_listed, 60_000).find(['Photos'], never)
    expect(waits).toMatchObject({ failure: { remedy: 'find_out', code: 'ALBUM_IN_DOUBT' } })
    expect((await stage.there.list()).albums).toEqual([])
    stage.asked.length = 0
    found(await stage.tree({}).find(['Photos'], never))
    expect(times(stage.asked, 'list')).toBe(2)
    expect((await stage.there.list()).albums).toHaveLength(1)
  })

  it('stays in doubt where the plan can not list', async () => {
    const { tree, there } = await openAlbumStage()
    const lost: ImageHost['createAlbum'] = async () => failure('find_out', 'HOST_ANSWER', 'create_album')
    const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
    await tree({ list, createAlbum: lost }).find(['Photos'], never)
    const waits = await tree({ list }).find(['Photos'], never)
    expect(waits).toMatchObject({ failure: { code: 'ALBUM_IN_DOUBT' } })
    expect((await there.list()).albums).toEqual([])
  })

  it('is not made again in the same pass where listings are late', async () => {
    const stage = await openAlbumStage()
    const late = await lateListing(stage)
    const albums = stage.tree({ ...late, createAlbum: lostAnswer(stage.host) })
    await albums.find(['Photos'], never)
    expect(await albums.find(['Photos'], never)).toMatchObject({ failure: { remedy: 'find_out' } })
    expect((await stage.there.list()).albums).toHaveLength(1)
  })
})

describe('an album that the host answers with instead of making one', () => {
  it('is not ours, and is not taken for empty', async () => {
    const { tree, host, synced, there, asked } = await openAlbumStage()
    const photos = await there.album('photos')
    const createAlbum: ImageHost['createAlbum'] = async (request, signal) => {
      if (request.name !== 'Photos') return host.createAlbum(request, signal)
      return { ok: true, value: { id: photos, name: 'photos', depth: 1, created_at: '2020-01-01T00:00:00Z' } }
    }
    const albums = tree({ createAlbum })
    expect(found(await albums.find(['Photos'], never))).toMatchObject({
      remote_id: photos,
      ours: 0,
      made_at: null,
    })
    expect(synced.journal.openCreation(null, 'Photos')).toBeUndefined()
    const before = times(asked, 'list')
    expect(found(await albums.find(['Photos', 'a'], never))).toMatchObject({ ours: 1 })
    expect(times(asked, 'list')).toBe(before + 1)
  })
})

describe('where no album can be made', () => {
  const nested = Array.from({ length: 14 }, (_, n) => `level ${n + 1}`)

  it('by the depth limit, pictures go to the deepest there is, and the host is asked once a pass', async () => {
    const { tree, asked } = await openAlbumStage()
    const albums = tree()
    for (let picture = 0; picture < 3; picture++)
      expect(found(await albums.find(nested, never)).name).toBe('level 10')
    expect(times(asked, 'create_album')).toBe(11)
    expect(found(await tree().find(nested, never)).name).toBe('level 10')
    expect(times(asked, 'create_album')).toBe(12)
  })

  it('a whole pass brings pictures from fourteen nested folders there', async () => {
    const workshop = await openWorkshop()
    for (let depth = 1; depth <= 14; depth++)
      workshop.write(`${nested.slice(0, depth).join('/')}/red.png`, png(2 + depth, 2).bytes)
    await workshop.pass()
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 14, synced: 14, failed: 0 })
    let album: string | null = null
    const counts: number[] = []
    for (const name of albumPathOf('Photos', nested.slice(0, 9).join('/'))) {
      const listed = await workshop.host.list(album, 1, never)
      const below = listed.ok ? listed.value.albums.find(one => one.name === name)! : undefined
      counts.push(below!.image_count)
      album = below!.id
    }
    expect(counts).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 1, 6])
  })

  it('by the plan, pictures go to the deepest album that is there', async () => {
    const { tree, host, there } = await openAlbumStage()
    const photos = await there.album('Photos')
    let asked = 0
    const createAlbum: ImageHost['createAlbum'] = async () => {
      asked++
      return failure('plan', 'PLAN_NOT_SUPPORTED', 'create_album')
    }
    const albums = tree({ createAlbum })
    expect(found(await albums.find(['Photos', 'a', 'b'], never)).remote_id).toBe(photos)
    expect(found(await albums.find(['Photos', 'a', 'c'], never)).remote_id).toBe(photos)
    expect(asked).toBe(1)
    expect(await host.list(photos, 1, never)).toMatchObject({ value: { albums: [] } })
  })

  it('by a plan without list and albums, pictures go to the root', async () => {
    const { tree, asked } = await openAlbumStage({ plansFrom: 'flagship' })
    const albums = tree()
    for (const name of ['a', 'b', 'c'])
      expect(await albums.find(['Photos', name], never)).toEqual({ ok: true, value: null })
    expect(asked.sort()).toEqual(['create_album', 'list'])
  })

  it('but for listing, they are made without having been looked for', async () => {
    const { tree, there } = await openAlbumStage()
    const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
    const albums = tree({ list })
    await albums.find(['Photos', 'a'], never)
    await albums.find(['Photos', 'a'], never)
    expect((await there.list()).albums).toMatchObject([{ name: 'Photos', sub_count: 1 }])
  })

  it('for one name, its neighbours are made', async () => {
    const { tree, host, there } = await openAlbumStage()
    const createAlbum: ImageHost['createAlbum'] = async (request, signal) =>
      request.name === 'bad'
        ? failure('change_request', 'VALIDATION_ERROR', 'create_album')
        : host.createAlbum(request, signal)
    const albums = tree({ createAlbum })
    expect(await albums.find(['bad'], never)).toEqual({ ok: true, value: null })
    expect(found(await albums.find(['good'], never)).name).toBe('good')
    expect(names((await there.list()).albums)).toEqual(['good'])
  })

  it('for want of a right, the pictures fail and the host is asked once a pass', async () => {
    const { tree } = await openAlbumStage()
    let asked = 0
    const createAlbum: ImageHost['createAlbum'] = async () => {
      asked++
      return failure('not_permitted', 'FORBIDDEN', 'create_album')
    }
    const albums = tree({ createAlbum })
    for (let picture = 0; picture < 3; picture++)
      expect(await albums.find(['Photos'], never)).toMatchObject({ failure: { code: 'FORBIDDEN' } })
    expect(asked).toBe(1)
  })
})
