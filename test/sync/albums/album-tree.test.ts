import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { albumPathOf } from '../../../src/sync/album.ts'
import { noteLost } from '../../../src/sync/clock.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { found, lateListing, listingWith, never, openAlbumStage, times } from '../album-stage.ts'
import { failure, openWorkshop, workshopWith } from '../workshop.ts'

/** The host, showing an album under another name, as after a change on its web pages. */
function renamed(host: ImageHost, id: string, name: string): Pick<ImageHost, 'list'> {
  return {
    list: listingWith(host, page => ({
      ...page,
      albums: page.albums.map(album => (album.id === id ? { ...album, name } : album)),
    })),
  }
}

it('an album that is not listed after a loss of the state says until when its pictures wait', async () => {
  const { tree, synced } = await openAlbumStage()
  synced.commitNow(tx => noteLost(tx, systemClock.monotonic()))
  const found = await tree({}, 60_000).find(['Photos'], never)
  expect(found).toMatchObject({ ok: false })
  if (!found.ok) expect(inWords(found.failure.message)).toMatch(/put back .* wait until 20/)
})

describe('of twins on the host', () => {
  it('the recorded one is used, though another holds more', async () => {
    const { there, tree, synced } = await openAlbumStage()
    await there.image(png(), { album_id: await there.album('Photos') })
    const recorded = await there.album('Photos')
    synced.commitNow(tx => tx.albums.put(null, 'Photos', recorded, false))
    synced.commitNow(tx => tx.albums.doubt(recorded))
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

it.each([
  ['in another Unicode form', 'Grüße'.normalize('NFD')],
  ['without the blanks around it', 'Grüße'],
])('an album that the host lists %s is used', async (_, listed) => {
  const { there, tree, synced, asked } = await openAlbumStage()
  const made = await there.album(listed)
  const name = listed === 'Grüße' ? ' Grüße ' : 'Grüße'
  const row = found(await tree().find([name], never))
  expect(row).toMatchObject({ name, remote_id: made })
  synced.commitNow(tx => tx.albums.doubt(made))
  expect(found(await tree().find([name], never)).remote_id).toBe(made)
  expect(asked).not.toContain('create_album')
})

it('two folders whose names differ only in their Unicode form have an album each', async () => {
  const { there, tree } = await openAlbumStage()
  const names = ['Grüße', 'Grüße'.normalize('NFD')]
  for (const name of [...names, ...names]) {
    const { remote_id } = found(await tree().find([name], never))
    const { albums } = await there.list()
    expect(albums.find(({ id }) => id === remote_id)!.name).toBe(name)
  }
  expect((await there.list()).albums).toHaveLength(2)
})

it('where the plan can not list and the records are old, none is created without a record', async () => {
  const { tree, synced, asked } = await openAlbumStage()
  synced.commitNow(tx => tx.meta.set('restored', true))
  const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
  expect(await tree({ list }).find(['Photos'], never)).toMatchObject({
    failure: { remedy: 'plan', endpoint: 'list' },
  })
  expect(asked).not.toContain('create_album')
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
    const workshop = await workshopWith({ 'old/red.png': png(3, 2).bytes }, { album: '' })
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

describe('an album that another program has made since its parent was walked', () => {
  it.each(['VALIDATION_ERROR', 'FORBIDDEN', 'NOT_FOUND'] as const)(
    'is used where names are unique and the host says %s, for one more listing of the parent',
    async albumNameTaken => {
      const { tree, host, synced, there, asked } = await openAlbumStage({
        readings: { albumNames: 'unique', albumNameTaken },
      })
      const photos = found(await tree().find(['Photos'], never))
      const createAlbum: ImageHost['createAlbum'] = async (request, signal) => {
        if (!synced.albums.named(photos.id, 'a')) await there.album('a', photos.remote_id)
        return host.createAlbum(request, signal)
      }
      asked.length = 0
      const album = found(await tree({ createAlbum }).find(['Photos', 'a'], never))
      expect(album).toMatchObject({ name: 'a', parent: photos.id, ours: 0 })
      expect(synced.journal.openCreation(photos.id, 'a')).toBeUndefined()
      expect(times(asked, 'list')).toBe(2)
    },
  )

  it('is looked for once a pass, where albums are refused for another reason', async () => {
    const { tree, asked } = await openAlbumStage({ readings: { depthMax: 1 } })
    found(await tree().find(['Photos'], never))
    asked.length = 0
    const albums = tree()
    for (const name of ['a', 'b', 'c']) found(await albums.find(['Photos', name], never))
    expect(times(asked, 'list')).toBe(2)
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

  it.each(['VALIDATION_ERROR', 'NOT_FOUND'] as const)(
    'because its name is taken in the root and the plan has no listings, pictures go to the root (%s)',
    async albumNameTaken => {
      const { tree, there, asked } = await openAlbumStage({
        readings: { albumNames: 'unique', albumNameTaken },
      })
      await there.album('Photos')
      const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
      const albums = tree({ list })
      for (const path of [['Photos'], ['Photos', 'a']])
        expect(await albums.find(path, never)).toEqual({ ok: true, value: null })
      expect(times(asked, 'create_album')).toBe(1)
    },
  )

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

  it.each(['INVALID_PARAMS', 'VALIDATION_ERROR', 'FORBIDDEN', 'NOT_FOUND'] as const)(
    'as too deep, the album above is taken, where the host says %s',
    async tooDeep => {
      const { tree } = await openAlbumStage({ readings: { depthMax: 1, tooDeep } })
      const albums = tree()
      for (const path of [['Photos'], ['Photos', 'a', 'b'], ['Photos', 'c']])
        expect(found(await albums.find(path, never))).toMatchObject({ name: 'Photos', parent: null })
    },
  )

  it('as too deep with NOT_FOUND, the host is asked once a pass, and no twin is made where the plan can not list', async () => {
    const { tree, asked, there } = await openAlbumStage({
      readings: { depthMax: 1, tooDeep: 'NOT_FOUND' },
    })
    const list: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
    for (let pass = 0; pass < 3; pass++) {
      const albums = tree({ list })
      for (const name of ['a', 'b', 'c'])
        expect(found(await albums.find(['Photos', name], never))).toMatchObject({ name: 'Photos' })
    }
    expect((await there.list()).albums).toHaveLength(1)
    expect(times(asked, 'create_album')).toBe(1 + 3)
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
