import { describe, expect, it } from 'vitest'
import type { ImageHost, ListPage } from '../../../src/remote/host.ts'
import { walkAlbum, walkEverything } from '../../../src/sync/listing/walk.ts'
import { png } from '../../pictures.ts'
import { found, listingWith, never, openAlbumStage, times } from '../album-stage.ts'
import { failure } from '../workshop.ts'

/** Whatever page it is asked for, there are others. */
function endless(
  perPage: number,
  entries: (first: number) => Pick<ListPage, 'albums' | 'images'>,
): Pick<ImageHost, 'list'> {
  let listed = 0
  return {
    async list(_album, page) {
      const first = listed
      listed += perPage
      const pagination = { page, per_page: 20, total_pages: 2 ** 50, total_images: 2 ** 50 }
      return { ok: true, value: { ...entries(first), pagination, cdn_base_url: 'https://cdn.example.com' } }
    },
  }
}

const ids = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: String(first + n) }))

it('a listing without end is given up before it fills the memory', async () => {
  const images = endless(100, first => ({ albums: [], images: ids(first, 100) }))
  expect(await walkAlbum(images, null, never, 1000)).toMatchObject({ failure: { code: 'HOST_LISTING' } })
})

it('so are albums within albums without end', async () => {
  const album = { name: 'a', depth: 1, image_count: 0, sub_count: 1, created_at: '' }
  const albums = endless(100, first => ({
    albums: ids(first, 100).map(({ id }) => ({ id, ...album })),
    images: [],
  }))
  const ended = { total_pages: 1, total_images: 0 }
  const list: ImageHost['list'] = async (...args) => {
    const listed = await albums.list(...args)
    if (!listed.ok) return listed
    return { ok: true, value: { ...listed.value, pagination: { ...listed.value.pagination, ...ended } } }
  }
  expect(await walkEverything({ list }, never, null, 1000)).toMatchObject({
    failure: { code: 'HOST_LISTING' },
  })
})

it('a page that is gone when it is asked for is no sign that the album is gone', async () => {
  const pagination = { page: 1, per_page: 20, total_pages: 2, total_images: 21 }
  const images = Array.from({ length: 20 }, (_, n) => ({ id: String(n) }))
  const list: ImageHost['list'] = async (_, page) =>
    page === 1
      ? { ok: true, value: { albums: [], images, pagination, cdn_base_url: null } }
      : failure('gone', 'NOT_FOUND', 'list', { status: 404 })
  const walk = await walkAlbum({ list }, 'album', never)
  expect(walk).toMatchObject({ ok: true, value: { images, complete: false } })
})

it('an image that the albums above its own list too is in its own', async () => {
  const named = (id: string) => ({ id, name: id, depth: 1, image_count: 1, sub_count: 0, created_at: '' })
  const below: Record<string, string[]> = { '': ['a'], a: ['b'], b: [] }
  const list: ImageHost['list'] = async album => ({
    ok: true,
    value: {
      albums: below[album ?? '']!.map(named),
      images: [{ id: 'image' }],
      pagination: { page: 1, per_page: 20, total_pages: 1, total_images: 1 },
      cdn_base_url: null,
    },
  })
  const { value } = (await walkEverything({ list }, never)) as Extract<
    Awaited<ReturnType<typeof walkEverything>>,
    { ok: true }
  >
  expect(value.images).toEqual([{ id: 'image', album: 'b' }])
})

const FOLDERS = Array.from({ length: 50 }, (_, n) => `folder ${n}`)

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
