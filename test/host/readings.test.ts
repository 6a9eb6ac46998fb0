import { expect, test } from 'vitest'
import type { Readings } from '../../src/host/decisions.ts'
import { cameraPicture } from '../page/camera-picture.ts'
import { png, svg, type TestPicture } from '../pictures.ts'
import { send, type TestHost, testHost } from './test-host.ts'

const picture = png()
const drawing = svg('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>')

function hostWith(readings: Partial<Readings>): Promise<TestHost> {
  return testHost({ readings })
}

/** The code of an upload's answer; undefined when it succeeded. */
async function codeOf(host: TestHost, sent: TestPicture, more: Record<string, unknown> = {}) {
  return (await host.upload(sent, more)).json.code
}

test('a file name needs an extension that §4.3 lists, or none', async () => {
  const asked = async (fileName: Readings['fileName'], file_name: string) =>
    (await (await hostWith({ fileName })).requestUpload(picture, { file_name })).json.code ?? 'taken'
  const names = ['a.png', 'a.JPG', 'a.exe', 'a.png.', 'a']
  const codes = (fileName: Readings['fileName']) => Promise.all(names.map(name => asked(fileName, name)))
  const no = 'VALIDATION_ERROR'
  expect(await codes('listed')).toEqual(['taken', 'taken', no, no, no])
  expect(await codes('any')).toEqual(Array(5).fill('taken'))
  const host = await testHost()
  const body = { file_name: 'a', file_size: 1, mime_type: 'image/png' }
  expect((await host.call('POST', '/api/presign', body)).json.code).toBe(no)
})

test("a JPEG's dimensions are those stored, those that EXIF turns them to, or either", async () => {
  const stored = { name: 'a.jpg', mime: 'image/jpeg', width: 40, height: 30, bytes: jpeg(40, 30, 6) }
  const turned = { ...stored, width: 30, height: 40 }
  const upright = { ...turned, bytes: jpeg(40, 30, 1) }
  const codes = async (dimensions: Readings['dimensions']) => {
    const host = await hostWith({ dimensions })
    const answered = [
      await codeOf(host, stored),
      await codeOf(host, turned),
      await codeOf(host, upright),
    ].map(code => code ?? 'taken')
    const listed = (await host.list()).images.map(({ width, height }) => [width, height])
    return { answered, listed }
  }
  const no = 'DIMENSION_MISMATCH'
  expect(await codes('stored')).toEqual({ answered: ['taken', no, no], listed: [[40, 30]] })
  expect(await codes('turned')).toEqual({ answered: [no, 'taken', no], listed: [[30, 40]] })
  expect(await codes('either')).toEqual({
    answered: ['taken', 'taken', no],
    listed: [
      [40, 30],
      [30, 40],
    ],
  })
})

/** A JPEG's frame header behind its EXIF, which is all that its dimensions take. */
function jpeg(width: number, height: number, orientation: number): Buffer {
  const frame = Buffer.from('ffd8ffc0000b080000000001011100ffd9', 'hex')
  frame.writeUInt16BE(height, 7)
  frame.writeUInt16BE(width, 9)
  return cameraPicture(frame, orientation, 0)
}

test('SVG and TIFF are exempt from dimensions, or not', async () => {
  const wrong = { ...drawing, width: 99, height: 99 }
  expect(await codeOf(await hostWith({}), wrong)).toBe('DIMENSION_MISMATCH')
  expect(await codeOf(await hostWith({ exemptDeclared: 'ignored' }), wrong)).toBeUndefined()
  expect(await codeOf(await hostWith({ undeclared: 'nothing' }), drawing)).toBe('MISSING_DIMENSION')
  const other = { ...drawing, bytes: picture.bytes }
  expect(await codeOf(await hostWith({}), other)).toBe('MISSING_DIMENSION')
  expect(await codeOf(await hostWith({ undeclared: 'any-picture' }), other)).toBeUndefined()
})

test('width and height may be left out at step 1 of SVG and TIFF, of one of them, or of none', async () => {
  const codes = async (exempt: Readings['exempt']) => {
    const host = await hostWith({ exempt })
    const bare = (mime_type: string) => ({ mime_type, width: undefined, height: undefined })
    const asked = async (mime: string) =>
      (await host.requestUpload(drawing, bare(mime))).json.code ?? 'granted'
    return Promise.all(['image/svg+xml', 'image/tif'].map(asked))
  }
  const no = 'MISSING_WIDTH'
  expect(await codes('svg-and-tiff')).toEqual(['granted', 'granted'])
  expect(await codes('svg')).toEqual(['granted', no])
  expect(await codes('tiff')).toEqual([no, 'granted'])
  expect(await codes('none')).toEqual([no, no])
  const skips = { skip_dimension_check: true }
  expect(await codeOf(await hostWith({ exempt: 'none' }), drawing, skips)).toBeUndefined()
})

test('bytes that are no picture pass where the check is skipped, or do not', async () => {
  const prose = { ...picture, bytes: Buffer.from('no picture at all') }
  const skips = { skip_dimension_check: true }
  expect(await codeOf(await hostWith({}), prose, skips)).toBeUndefined()
  const strict = await hostWith({ skippedCheck: 'any-picture' })
  expect(await codeOf(strict, prose, skips)).toBe('UNREADABLE_DIMENSION')
  expect(await codeOf(strict, { ...picture, width: 99 }, skips)).toBeUndefined()
})

test('a refused upload leaves its credential usable, or uses it up', async () => {
  const again = async (refusedUpload: Readings['refusedUpload']) => {
    const host = await hostWith({ refusedUpload })
    const url = await host.uploadUrl(picture)
    expect((await send(url, picture.bytes.subarray(1))).json.code).toBe('INVALID_FILE_SIZE')
    return (await send(url, picture.bytes)).json.code
  }
  expect(await again('still-usable')).toBeUndefined()
  expect(await again('used-up')).toBe('FORBIDDEN')
})

test('cdn_url is answered by both steps, one, or neither', async () => {
  const steps = async (cdnUrl: Readings['cdnUrl']) => {
    const host = await hostWith({ cdnUrl })
    const { data } = (await host.requestUpload(picture)).json
    return ['cdn_url' in data, 'cdn_url' in (await send(data.upload_url, picture.bytes)).json]
  }
  expect(await steps('both')).toEqual([true, true])
  expect(await steps('first')).toEqual([true, false])
  expect(await steps('second')).toEqual([false, true])
  expect(await steps('neither')).toEqual([false, false])
})

test('an address with a raw space, or that is not ASCII, delivers the image, and so does the plain one', async () => {
  for (const [delivery, shape] of [
    ['raw-space', /\/i\/[0-9a-f]+\/\S+ \S+$/],
    ['non-ascii', /\/i\/[0-9a-f]+\/.*[^\0-\x7f]/],
  ] as const) {
    const host = await hostWith({ delivery })
    const { json } = await host.upload(picture)
    expect(json.cdn_url).toMatch(shape)
    for (const url of [json.cdn_url, host.deliveryUrl(json.image_id)])
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(picture.bytes)
  }
})

test('cdn_base_url of a listing is absolute, without its scheme, relative, or absent', async () => {
  const answered = async (cdnBaseUrl: Readings['cdnBaseUrl']) => {
    const host = await hostWith({ cdnBaseUrl })
    const listed = (await host.list()).cdn_base_url
    return { listed, whole: host.running.cdnBaseUrl }
  }
  const absolute = await answered('absolute')
  expect(absolute.listed).toBe(absolute.whole)
  const schemeless = await answered('without-scheme')
  expect(`http:${schemeless.listed}`).toBe(schemeless.whole)
  expect((await answered('relative')).listed).toBe('')
  expect((await answered('absent')).listed).toBeUndefined()
})

test('a listing is the newest first, its sub-albums on the first page alone', async () => {
  const host = await hostWith({ order: 'newest-first', subAlbums: 'first-page' })
  const albums = [await host.album('First'), await host.album('Second')]
  const images: string[] = []
  for (let shade = 0; shade < 21; shade += 1) images.push(await host.image(png(3, 2, shade)))
  const pages = [await host.list(), await host.list(null, 2)]
  expect(pages.flatMap(page => page.images.map(({ id }) => id))).toEqual(images.toReversed())
  expect(pages.map(page => page.albums.map(({ id }) => id))).toEqual([albums.toReversed(), []])
})

test('a page beyond the last is empty, the last one, or refused; page 1 never is', async () => {
  const pages = async (beyondLast: Readings['beyondLast']) => {
    const host = await hostWith({ beyondLast })
    const empty = await host.call('GET', '/list?page=1')
    await host.image(picture)
    const { json } = await host.call('GET', '/list?page=2')
    return [empty.status, json.code ?? [json.data.pagination.page, json.data.images.length]]
  }
  expect(await pages('empty')).toEqual([200, [2, 0]])
  expect(await pages('last-page')).toEqual([200, [1, 1]])
  expect(await pages('refused')).toEqual([200, 'NOT_FOUND'])
})

test('an empty album has one page, a deleted one does not count, and two may not bear one name', async () => {
  const host = await hostWith({ emptyPages: '1', deletedAlbums: 'sub-albums-alone', albumNames: 'unique' })
  expect((await host.list()).pagination).toMatchObject({ total_pages: 1, total_images: 0 })
  const outer = await host.album('A')
  await host.album('A', outer)
  expect((await host.call('POST', '/create_album', { name: 'A' })).json.code).toBe('VALIDATION_ERROR')
  const { json } = await host.call('DELETE', `/delete?album=${outer}`)
  expect(json.data).toEqual({ deleted_albums: 1, deleted_images: 0 })
})

test('numbers are text, times have another offset, sizes other units', async () => {
  const host = await hostWith({ numbers: 'text', times: '-03:30', sizes: 'binary' })
  await host.image(png(40, 40))
  const { images, pagination } = await host.list()
  expect(images).toMatchObject([{ width: '40', height: '40', size: '1.7 KB' }])
  expect(pagination).toMatchObject({ page: '1', total_images: '1' })
  expect(images[0]!.time).toMatch(/-03:30$/)
  expect(Math.abs(Date.parse(images[0]!.time) - Date.now())).toBeLessThan(60_000)
  const own = await hostWith({ times: 'Z' })
  await own.image(picture)
  expect((await own.list()).images[0]!.time).toMatch(/Z$/)
})

test('empty lists are written, null or left out, and names are as they were sent or changed', async () => {
  const lists = async (emptyLists: Readings['emptyLists']) => {
    const host = await hostWith({ emptyLists })
    await host.album('a')
    const { images, albums } = await host.list()
    expect(albums).toHaveLength(1)
    return images
  }
  expect([await lists('written'), await lists('null'), await lists('left-out')]).toEqual([
    [],
    null,
    undefined,
  ])
  const host = await hostWith({ names: 'changed' })
  await host.album(' ü ')
  await host.image({ ...picture, name: ' ä.png' })
  const { albums, images } = await host.list()
  const [album, image] = ['ü', 'ä.png'].map(name => name.normalize('NFD'))
  expect([albums[0]!.name, images[0]!.name]).toEqual([album, image])
})

test('the headers of limits are left out', async () => {
  const requestsPerSecond = { list: 1 }
  const host = await testHost({ requestsPerSecond, readings: { limitHeaders: 'absent' } })
  const asked = [await host.call('GET', '/list'), await host.call('GET', '/list')]
  expect(asked.map(({ status }) => status)).toEqual([200, 429])
  for (const { headers } of asked)
    expect([...headers.keys()].filter(name => /retry|ratelimit/.test(name))).toEqual([])
})

test('amounts and the codes of failures are as they were told, each code with its status', async () => {
  const host = await hostWith({ depthMax: 1, fileNameMax: 5, unknownAlbum: 'FORBIDDEN' })
  const album = await host.album('A')
  const deeper = await host.call('POST', '/create_album', { name: 'B', parent_album: album })
  expect(deeper.json.code).toBe('INVALID_PARAMS')
  expect((await host.requestUpload(picture, { file_name: 'aa.png' })).json.code).toBe('VALIDATION_ERROR')
  const unknown = await host.call('GET', '/list?album_id=none')
  expect([unknown.status, unknown.json.code]).toEqual([403, 'FORBIDDEN'])
})
