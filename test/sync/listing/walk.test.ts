import { expect, it } from 'vitest'
import type { ImageHost, ListPage } from '../../../src/remote/host.ts'
import { walkAlbum, walkEverything } from '../../../src/sync/listing/walk.ts'
import { never } from '../album-stage.ts'

const PAGE = 100_000

/** Whatever page it is asked for, there are others. */
function endless(entries: (first: number) => Pick<ListPage, 'albums' | 'images'>): Pick<ImageHost, 'list'> {
  let listed = 0
  return {
    async list(_album, page) {
      const first = listed
      listed += PAGE
      const pagination = { page, per_page: 20, total_pages: 2 ** 50, total_images: 2 ** 50 }
      return { ok: true, value: { ...entries(first), pagination, cdn_base_url: 'https://cdn.example.com' } }
    },
  }
}

const ids = (first: number) => Array.from({ length: PAGE }, (_, n) => ({ id: String(first + n) }))

it('a listing without end is given up before it fills the memory', async () => {
  const images = endless(first => ({ albums: [], images: ids(first) }))
  expect(await walkAlbum(images, null, never)).toMatchObject({ failure: { code: 'HOST_LISTING' } })
})

it('so are albums within albums without end', async () => {
  const album = { name: 'a', depth: 1, image_count: 0, sub_count: 1, created_at: '' }
  const albums = endless(first => ({ albums: ids(first).map(({ id }) => ({ id, ...album })), images: [] }))
  const ended = { total_pages: 1, total_images: 0 }
  const list: ImageHost['list'] = async (...args) => {
    const listed = await albums.list(...args)
    if (!listed.ok) return listed
    return { ok: true, value: { ...listed.value, pagination: { ...listed.value.pagination, ...ended } } }
  }
  expect(await walkEverything({ list }, never)).toMatchObject({ failure: { code: 'HOST_LISTING' } })
})
