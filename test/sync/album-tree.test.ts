import { describe, expect, it } from 'vitest'
import type { ImageHost } from '../../src/remote/host.ts'
import { hostWith } from '../../src/remote/host-with.ts'
import { albumPathOf } from '../../src/sync/album-name.ts'
import { png } from '../pictures.ts'
import { type AlbumStage, found, listingWith, never, openAlbumStage } from './album-stage.ts'
import { failure, openWorkshop } from './workshop.ts'

const FOLDERS = Array.from({ length: 50 }, (_, n) => `folder ${n}`)

/** The host, showing an album under another name, as after a change on its web pages. */
function renamed(host: ImageHost, id: string, name: string): Pick<ImageHost, 'list'> {
  return {
    list: listingWith(host, page => ({
      ...page,
      albums: page.albums.map(album => (album.id === id ? { ...album, name } : album)),
    })),
  }
}

/** The host, whose listings know nothing of what was made since. */
async function lateListing({ host, there }: AlbumStage): Promise<Pick<ImageHost, 'list'>> {
  const known = new Set((await there.list()).albums.map(({ id }) => id))
  return {
    list: listingWith(host, page => ({ ...page, albums: page.albums.filter(({ id }) => known.has(id)) })),
  }
}

const times = (asked: readonly string[], endpoint: string) => asked.filter(one => one === endpoint).length
const names = (albums: readonly { name: string }[]) => albums.map(({ name }) => name).sort()

describe('the listings of a pass', () => {
  it('are one walk of all pages, however many folders are looked for', async () => {
    const { there, tree, asked } = await openAlbumStage()
    const photos = await there.album('Photos')
    for (let n = 0; n < 45; n++) await there.image(png(2, 2, n), { album_id: photos })
    const albums = tree()
    await Promise.all(FOLDERS.map(name => albums.find(['Photos', name], never)))
    await albums.find(['Photos', 'one more'], never)
    expect(times(asked, 'list')).toBe(1 + 3)
    expect(times(asked, 'create_album')).toBe(51)
  })

  it('leave out an album that was made in this pass: nothing can be in it', async () => {
    const { tree, asked } = await openAlbumStage()
    const albums = tree()
    await albums.find(['Photos', 'a', 'b'], never)
    await albums.find(['Photos', 'a', 'c'], never)
    expect(asked).toEqual(['list', 'create_album', 'create_album', 'create_album', 'create_album'])
  })

  it('find an album that stands on the last page alone', async () => {
    const { there, tree, host } = await openAlbumStage()
    for (let n = 0; n < 45; n++) await there.image(png(2, 2, n))
    const photos = await there.album('Photos')
    const list = listingWith(host, (page, number) => ({ ...page, albums: number === 3 ? page.albums : [] }))
    expect(found(await tree({ list }).find(['Photos'], never)).remote_id).toBe(photos)
  })

  it('are walked again after a walk that failed', async () => {
    const { there, tree, host } = await openAlbumStage()
    const photos = await there.album('Photos')
    let fails = true
    const list: ImageHost['list'] = async (...args) =>
      fails ? failure('later', 'HOST_UNREACHABLE', 'list') : host.list(...args)
    const albums = tree({ list })
    expect(await albums.find(['Photos'], never)).toMatchObject({ ok: false, failure: { remedy: 'later' } })
    fails = false
    expect(found(await albums.find(['Photos'], never)).remote_id).toBe(photos)
  })

  it.each([
    ['a thousand million pages', () => 1e9],
    ['one page more on each page', (number: number) => number + 1],
  ])('end where the host promises %s and shows nothing new', async (_, promised) => {
    const { there, tree, host, asked } = await openAlbumStage()
    await there.image(png())
    const photos = await there.album('Photos')
    const list = listingWith(host, (page, number) => ({
      ...page,
      pagination: { ...page.pagination, total_pages: promised(number) },
    }))
    expect(found(await tree({ list }).find(['Photos'], never)).remote_id).toBe(photos)
    expect(asked).toEqual(['list', 'list'])
  })

  it('end with the pass where the host invents images without end, and no album is made', async () => {
    const { tree, host, asked } = await openAlbumStage()
    const pass = new AbortController()
    const list = listingWith(host, (page, number) => {
      if (number === 5) pass.abort()
      const images = [{ id: `invented ${number}` }]
      return { ...page, images, pagination: { ...page.pagination, total_pages: number + 1 } }
    })
    expect(await tree({ list }).find(['Photos'], pass.signal)).toMatchObject({
      ok: false,
      failure: { remedy: 'cancelled' },
    })
    expect(asked).toEqual(['list', 'list', 'list', 'list', 'list'])
  })
})

describe('of twins on the host', () => {
  it('the recorded one is used, though another holds more', async () => {
    const { there, tree, synced } = await openAlbumStage()
    await there.image(png(), { album_id: await there.album('Photos') })
    const recorded = await there.album('Photos')
    synced.albums.put(null, 'Photos', recorded, false)
    synced.albums.doubt(recorded)
    expect(found(await tree().find(['Photos'], never)).remote_id).toBe(recorded)
  })

  it('the one that holds most is used, else the oldest', async () => {
    const { there, tree, host } = await openAlbumStage()
    const [first, second, third] = [await there.album('A'), await there.album('A'), await there.album('A')]
    const ages = new Map([
      [first, '2026-03-01T00:00:00Z'],
      [second, '2026-01-01T00:00:00+00:00'],
      [third, '2026-02-01T00:00:00Z'],
    ])
    const list = listingWith(host, page => ({
      ...page,
      albums: page.albums.map(album => ({ ...album, created_at: ages.get(album.id)! })),
    }))
    expect(found(await tree({ list }).find(['A'], never)).remote_id).toBe(second)
    const other = await openAlbumStage()
    await other.there.album('A')
    const full = await other.there.album('A')
    await other.there.image(png(), { album_id: full })
    expect(found(await other.tree().find(['A'], never)).remote_id).toBe(full)
  })
})

describe('an album that was renamed on the web', () => {
  it('is the album of its new name, and the old name gets another', async () => {
    const { tree, host, synced, there } = await openAlbumStage()
    const old = found(await tree().find(['Photos', 'old'], never))
    const albums = tree(renamed(host, old.remote_id, 'new'))
    const now = found(await albums.find(['Photos', 'new'], never))
    expect(now).toMatchObject({ id: old.id, remote_id: old.remote_id, name: 'new', ours: 1 })
    const again = found(await albums.find(['Photos', 'old'], never))
    expect(again.remote_id).not.toBe(old.remote_id)
    expect(synced.albums.named(old.parent, 'new')).toEqual(now)
    expect((await there.list(synced.albums.byId(old.parent!)!.remote_id)).albums).toHaveLength(2)
  })

  it('takes the place of one that is gone and bore that name', async () => {
    const { tree, host, there } = await openAlbumStage()
    const stays = found(await tree().find(['stays'], never))
    const gone = found(await tree().find(['gone'], never))
    await there.call('DELETE', `/delete?album=${gone.remote_id}`)
    const albums = tree(renamed(host, stays.remote_id, 'gone'))
    const now = found(await albums.lookAgain(['gone'], never, gone))
    expect(now).toMatchObject({ id: stays.id, remote_id: stays.remote_id, name: 'gone', confirmed: 1 })
    const other = found(await albums.find(['stays'], never))
    expect([stays.remote_id, gone.remote_id]).not.toContain(other.remote_id)
  })

  it('does not end a pass', async () => {
    const workshop = await openWorkshop({ album: '' })
    workshop.write('old/red.png', png(3, 2).bytes)
    await workshop.pass()
    const { remote_id } = workshop.synced.albums.named(null, 'old')!
    workshop.write('new/green.png', png(5, 5).bytes)
    await workshop.pass({ host: hostWith(workshop.host, renamed(workshop.host, remote_id, 'new')) })
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 2, synced: 2, failed: 0 })
  })

  it('may be shown inside itself by a host that is out of its mind', async () => {
    const { tree, host } = await openAlbumStage()
    const photos = found(await tree().find(['Photos'], never))
    // As a host would that does not look at album_id.
    const list: ImageHost['list'] = (_, page, signal) => host.list(null, page, signal)
    expect(found(await tree({ list }).find(['Photos', 'Photos', 'Photos'], never))).toEqual(photos)
  })
})

describe('an album that the host no longer knows', () => {
  it('is made again once, though eight uploads heard of it one after the other and listings are late', async () => {
    const stage = await openAlbumStage()
    const lost = found(await stage.tree().find(['Photos'], never))
    await stage.there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const albums = stage.tree(await lateListing(stage))
    const again: string[] = []
    for (let upload = 0; upload < 8; upload++)
      again.push(found(await albums.lookAgain(['Photos'], never, lost)).remote_id)
    expect(new Set(again).size).toBe(1)
    expect((await stage.there.list()).albums).toMatchObject([{ id: again[0] }])
  })

  it('is made again once by a pass of eight workers', async () => {
    const workshop = await openWorkshop()
    workshop.write('first.png', png(9, 9).bytes)
    await workshop.pass()
    const lost = workshop.synced.albums.named(null, 'Photos')!
    await workshop.host.deleteAlbum(lost.remote_id, never)
    for (let n = 0; n < 24; n++) workshop.write(`${n}.png`, png(2, 2, n).bytes)
    const list = listingWith(workshop.host, page => ({ ...page, albums: [] }))
    await workshop.pass({ host: hostWith(workshop.host, { list }), concurrency: 8 })
    const root = await workshop.host.list(null, 1, never)
    expect(root).toMatchObject({ value: { albums: [{ name: 'Photos', image_count: 24 }] } })
  })

  it('is looked for in a new listing, not in one from before', async () => {
    const { tree, there } = await openAlbumStage()
    const lost = found(await tree().find(['Photos'], never))
    const albums = tree()
    await albums.find(['Others'], never)
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const again = found(await albums.lookAgain(['Photos'], never, lost))
    expect(again.remote_id).not.toBe(lost.remote_id)
    expect(names((await there.list()).albums)).toEqual(['Others', 'Photos'])
  })

  it('is heard of where something is to be made in it, and made again with all below it', async () => {
    const { tree, there } = await openAlbumStage()
    const first = tree()
    const lost = found(await first.find(['Photos'], never))
    const below = found(await first.find(['Photos', 'a'], never))
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const albums = tree()
    found(await albums.find(['Photos', 'new'], never))
    const again = found(await albums.find(['Photos', 'a'], never))
    expect(again).toMatchObject({ id: below.id, confirmed: 1 })
    expect(again.remote_id).not.toBe(below.remote_id)
    const [photos] = (await there.list()).albums
    expect(names((await there.list(photos!.id)).albums)).toEqual(['a', 'new'])
  })

  it('is made again where the plan can not list', async () => {
    const { tree, there } = await openAlbumStage()
    const lost = found(await tree().find(['Photos'], never))
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
    found(await tree({ list }).find(['Photos', 'a'], never))
    const [photos] = (await there.list()).albums
    expect(photos).toMatchObject({ name: 'Photos', sub_count: 1 })
  })

  it('is not looked for without end where listings go on showing it', async () => {
    const { tree, host, there, asked } = await openAlbumStage()
    const lost = found(await tree().find(['Photos'], never))
    const { albums } = await there.list()
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const list = listingWith(host, page => ({ ...page, albums }))
    asked.length = 0
    const pass = tree({ list })
    for (const name of ['a', 'b', 'c'])
      expect(await pass.find(['Photos', name], never)).toMatchObject({ failure: { remedy: 'gone' } })
    expect(found(await pass.lookAgain(['Photos'], never, lost)).remote_id).toBe(lost.remote_id)
    expect(times(asked, 'create_album')).toBe(0)
    // The root once; the lost one before that, and then for each name.
    expect(times(asked, 'list')).toBe(1 + 4)
  })

  it('is no reason for a twin where it was made just now', async () => {
    const stage = await openAlbumStage()
    const albums = stage.tree(await lateListing(stage))
    const made = found(await albums.find(['Photos'], never))
    expect(found(await albums.lookAgain(['Photos'], never, made))).toEqual(made)
    expect((await stage.there.list()).albums).toHaveLength(1)
  })
})

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
