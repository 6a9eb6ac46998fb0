import { expect, test } from 'vitest'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'
import { OTHER_KEY } from './choices.ts'
import { declaration, pictureFiles, send, testHost } from './test-host.ts'

const picture = png()

test('albums are nested, and counted where they are listed', async () => {
  const host = await testHost()
  const year = await host.album('2026')
  const june = await host.album('June', year)
  await host.album('July', year)
  await host.image(picture, { album_id: june })
  await host.image(picture, { album_id: year })
  const root = await host.list()
  expect(root.albums).toMatchObject([{ id: year, name: '2026', depth: 1, image_count: 1, sub_count: 2 }])
  expect((await host.list(year)).albums).toMatchObject([
    { id: june, name: 'June', depth: 2, image_count: 1, sub_count: 0 },
    { name: 'July', depth: 2, image_count: 0, sub_count: 0 },
  ])
  expect((await host.list(june)).albums).toEqual([])
})

test('a created album is answered as §4.6 says', async () => {
  const host = await testHost()
  const { json } = await host.call('POST', '/create_album', { name: ' a\n"b" ' })
  const { album } = json.data
  expect(Object.keys(album).sort()).toEqual(['created_at', 'depth', 'id', 'name'])
  expect(album).toMatchObject({ name: ' a\n"b" ', depth: 1 })
  expect(album.created_at).toMatch(/\+00:00$/)
})

test('a name may have 100 characters, and two albums may bear it', async () => {
  const host = await testHost()
  const name = 'n'.repeat(100)
  expect(await host.album(name)).not.toBe(await host.album(name))
  expect((await host.call('POST', '/create_album', { name: `${name}n` })).json.code).toBe('VALIDATION_ERROR')
})

test('a character of a name is a code point', async () => {
  const host = await testHost()
  await host.album('😀'.repeat(100))
  const longer = await host.call('POST', '/create_album', { name: '😀'.repeat(101) })
  expect(longer.json.code).toBe('VALIDATION_ERROR')
})

test('albums go ten deep', async () => {
  const host = await testHost()
  let parent: string | null = null
  for (let depth = 1; depth <= 10; depth += 1) parent = await host.album(`depth ${depth}`, parent)
  const deeper = await host.call('POST', '/create_album', { name: 'too deep', parent_album: parent })
  expect(deeper.json.code).toBe('INVALID_PARAMS')
})

test('an album that is not there is NOT_FOUND, one of another account FORBIDDEN, on every endpoint', async () => {
  const host = await testHost()
  const mine = await host.album('Mine')
  const asked = (id: string) =>
    Promise.all([
      host.call('GET', `/list?album_id=${id}`, undefined, OTHER_KEY),
      host.call('POST', '/create_album', { name: 'a', parent_album: id }, OTHER_KEY),
      host.call('DELETE', `/delete?album=${id}`, undefined, OTHER_KEY),
    ])
  expect((await asked('nothing')).map(answer => answer.json.code)).toEqual(Array(3).fill('NOT_FOUND'))
  expect((await asked(mine)).map(answer => answer.json.code)).toEqual(Array(3).fill('FORBIDDEN'))
  expect((await host.list()).albums).toHaveLength(1)
})

test('each account has a root of its own', async () => {
  const host = await testHost()
  await host.image(picture)
  await host.album('Mine')
  const other = await host.call('GET', '/list', undefined, OTHER_KEY)
  expect(other.json.data).toMatchObject({ albums: [], images: [], pagination: { total_images: 0 } })
})

test('an album is deleted with all that is below it, and nothing else', async () => {
  const host = await testHost()
  const doomed = await host.album('Doomed')
  const below = await host.album('Below', doomed)
  const deepest = await host.album('Deepest', below)
  const beside = await host.album('Beside')
  for (const album of [doomed, below, deepest, deepest, beside])
    await host.image(picture, { album_id: album })
  const survivor = await host.image(picture)
  const { json } = await host.call('DELETE', `/delete?album=${doomed}`)
  expect(json.data).toEqual({ deleted_albums: 3, deleted_images: 4 })
  const root = await host.list()
  expect(root.albums.map(album => album.id)).toEqual([beside])
  expect(root.images.map(image => image.id)).toEqual([survivor])
  expect((await host.call('GET', `/list?album_id=${deepest}`)).json.code).toBe('NOT_FOUND')
  expect(pictureFiles(host.data)).toHaveLength(2)
})

test('a deleted album frees its storage', async () => {
  const host = await testHost({ storageLimit: picture.bytes.byteLength })
  const album = await host.album('Full')
  await host.image(picture, { album_id: album })
  expect((await host.requestUpload(picture)).json.code).toBe('STORAGE_LIMIT_REACHED')
  await host.call('DELETE', `/delete?album=${album}`)
  expect((await host.requestUpload(picture)).json.success).toBe(true)
})

test('a deleted image is neither listed nor delivered, and its bytes are gone', async () => {
  const host = await testHost()
  const id = await host.image(picture)
  const { json } = await host.call('DELETE', `/delete?img=${id}`)
  expect(Object.keys(json).sort()).toEqual(['message', 'success'])
  expect((await host.list()).images).toEqual([])
  expect((await fetch(host.deliveryUrl(id))).status).toBe(404)
  expect(pictureFiles(host.data)).toEqual([])
  expect((await host.call('DELETE', `/delete?img=${id}`)).json.code).toBe('NOT_FOUND')
})

test('deletion refuses what is not exactly one resource', async () => {
  const host = await testHost()
  const id = await host.image(picture)
  const codes: [string, string][] = [
    ['/delete?img=', 'MISSING_PARAMS'],
    ['/delete?album=', 'MISSING_PARAMS'],
    [`/delete?img=${id}&album=`, 'INVALID_PARAMS'],
    [`/delete?img=${id}&img=${id}`, 'INVALID_PARAMS'],
    [`/delete?album=${id}`, 'NOT_FOUND'],
  ]
  for (const [path, code] of codes) expect((await host.call('DELETE', path)).json.code, path).toBe(code)
  expect((await host.list()).images).toHaveLength(1)
})

test('the pages of a listing hold 20 images each, oldest first, and every sub-album', async () => {
  const host = await testHost()
  const album = await host.album('Many')
  await host.album('Below', album)
  const ids: string[] = []
  for (let shade = 0; shade < 45; shade += 1)
    ids.push(await host.image(png(3, 2, shade), { album_id: album }))
  const pages = await Promise.all([undefined, 2, 3, 4].map(page => host.list(album, page)))
  expect(pages.map(page => page.images.length)).toEqual([20, 20, 5, 0])
  expect(pages.flatMap(page => page.images.map(image => image.id))).toEqual(ids)
  expect(pages.map(page => page.albums.length)).toEqual([1, 1, 1, 1])
  expect(pages.map(page => page.pagination)).toEqual(
    [1, 2, 3, 4].map(page => ({ page, per_page: 20, total_pages: 3, total_images: 45 })),
  )
})

test('an empty album has no pages, and a page that is no positive integer is INVALID_PARAMS', async () => {
  const host = await testHost()
  expect((await host.list()).pagination).toEqual({ page: 1, per_page: 20, total_pages: 0, total_images: 0 })
  for (const page of ['0', '-1', '1.5', 'two', '1e3', '99999999999999999999'])
    expect((await host.call('GET', `/list?page=${page}`)).json.code, page).toBe('INVALID_PARAMS')
  expect((await host.call('GET', '/list?page=9007199254740991')).json.data.images).toEqual([])
})

test('an image for which no album is named lands in the default album, while there is one', async () => {
  const data = tempFolder()
  const first = await testHost({ data, defaultAlbum: 'Photos/Inbox' })
  const [photos] = (await first.list()).albums
  const [inbox] = (await first.list(photos!.id)).albums
  expect([photos!.name, inbox!.name]).toEqual(['Photos', 'Inbox'])
  const id = await first.image(picture)
  const { file_name, file_size, mime_type } = declaration(picture)
  const presigned = await first.call('POST', '/api/presign', { file_name, file_size, mime_type })
  await send(`${presigned.json.upload_url}?token=${presigned.json.upload_token}`, picture.bytes)
  expect((await first.list(inbox!.id)).images.map(image => image.id)).toEqual([id, presigned.json.image_id])
  expect((await first.call('GET', '/list', undefined, OTHER_KEY)).json.data.albums).toHaveLength(1)
  await first.running.close()

  const second = await testHost({ data, defaultAlbum: 'Photos/Inbox' })
  expect((await second.list(photos!.id)).albums.map(album => album.id)).toEqual([inbox!.id])
  await second.call('DELETE', `/delete?album=${photos!.id}`)
  const orphan = await second.image(picture)
  expect((await second.list()).images.map(image => image.id)).toEqual([orphan])
})
