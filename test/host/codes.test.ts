import { rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/host/data/database.ts'
import { type ErrorCode, STATUS_OF } from '../../src/protocol/errors.ts'
import { failure } from '../../src/protocol/records.ts'
import { png, svg } from '../pictures.ts'
import { KEY, OTHER_KEY, UNLIMITED } from './choices.ts'
import { type Answer, declaration, pictureFiles, send, testHost } from './test-host.ts'

const picture = png()

/** The body of step 1 with a field left out or put otherwise. */
async function askedWith(change: Record<string, unknown>): Promise<Answer> {
  return (await testHost()).requestUpload(picture, change)
}

/** §7's table: how each code comes to be. */
const CASES: Record<ErrorCode, () => Promise<Answer>> = {
  MISSING_FILE_SIZE: () => askedWith({ file_size: undefined }),
  MISSING_FILE_NAME: () => askedWith({ file_name: undefined }),
  MISSING_MIME_TYPE: () => askedWith({ mime_type: undefined }),
  MISSING_WIDTH: () => askedWith({ width: undefined }),
  MISSING_HEIGHT: () => askedWith({ height: undefined }),
  INVALID_WIDTH: () => askedWith({ width: 0 }),
  INVALID_HEIGHT: () => askedWith({ height: 1.5 }),
  INVALID_DIMENSION: () => askedWith({ width: 2 ** 31 }),
  INVALID_FILE_SIZE: () => askedWith({ file_size: -1 }),
  VALIDATION_ERROR: () => askedWith({ mime_type: 'text/plain' }),

  async MISSING_DIMENSION() {
    const drawing = svg('<svg xmlns="http://www.w3.org/2000/svg"/>')
    const url = await (await testHost()).uploadUrl(drawing, { file_size: picture.bytes.byteLength })
    return send(url, picture.bytes)
  },
  async UNREADABLE_DIMENSION() {
    const prose = Buffer.from('no picture at all, only words')
    return (await testHost()).upload({ ...picture, bytes: prose })
  },
  async DIMENSION_MISMATCH() {
    return (await testHost()).upload({ ...picture, width: picture.width + 2 })
  },
  async FILE_TOO_LARGE() {
    const host = await testHost({ maxFileSize: picture.bytes.byteLength - 1 })
    return host.requestUpload(picture)
  },
  async MISSING_NAME() {
    return (await testHost()).call('POST', '/create_album', { name: '' })
  },
  async INVALID_PARAMS() {
    return (await testHost()).call('DELETE', '/delete?img=a&album=b')
  },
  async MISSING_PARAMS() {
    return (await testHost()).call('DELETE', '/delete')
  },
  async MISSING_API_KEY() {
    return (await testHost()).call('GET', '/list', undefined, null)
  },
  async INVALID_API_KEY() {
    return (await testHost()).call('GET', '/list', undefined, 'no-such-key')
  },
  async PLAN_NOT_SUPPORTED() {
    return (await testHost({ plan: 'professional', plansFrom: 'flagship' })).call('GET', '/list')
  },
  async FORBIDDEN() {
    const host = await testHost()
    const id = await host.image(picture)
    return host.call('DELETE', `/delete?img=${id}`, undefined, OTHER_KEY)
  },
  async STORAGE_LIMIT_REACHED() {
    const host = await testHost({ storageLimit: 2 * picture.bytes.byteLength - 1 })
    await host.image(picture)
    return host.requestUpload(picture)
  },
  async NOT_FOUND() {
    return (await testHost()).call('DELETE', '/delete?img=nothing')
  },
  async DAILY_LIMIT_REACHED() {
    const host = await testHost({ dailyQuota: 1 })
    await host.image(picture)
    return host.requestUpload(picture)
  },
  async RATE_LIMITED() {
    const host = await testHost({ requestsPerSecond: { ...UNLIMITED, list: 0 } })
    return host.call('GET', '/list')
  },
  async DELETE_FAILED() {
    const host = await testHost()
    const id = await host.image(picture)
    await makeBytesStay(host.data)
    return host.call('DELETE', `/delete?img=${id}`)
  },
  async NO_AVAILABLE_IO_NODE() {
    const host = await testHost({ maxFileSize: 2 ** 52, storageLimit: 2 ** 52 })
    return host.requestUpload(picture, { file_size: 2 ** 51 })
  },
}

/** A folder in the place of the one picture's file can't be removed as a file. */
async function makeBytesStay(data: string): Promise<void> {
  const path = pictureFiles(data)[0]!
  rmSync(path)
  await mkdir(path)
}

test('every code of §7 has a case here', () => {
  expect(Object.keys(CASES).sort()).toEqual(Object.keys(STATUS_OF).sort())
})

for (const [code, provoke] of Object.entries(CASES)) {
  test(`${code} comes with its status, in the failure envelope`, async () => {
    const answer = await provoke()
    expect(failure.parse(answer.json)).toMatchObject({ success: false, code })
    expect(answer.status).toBe(STATUS_OF[code as ErrorCode])
    expect(answer.json.error).not.toContain(KEY)
  })
}

test('a deletion that fails changes nothing: the image stays listed and counts for the storage', async () => {
  const host = await testHost({ storageLimit: 3 * picture.bytes.byteLength })
  const first = await host.image(picture)
  await makeBytesStay(host.data)
  const second = await host.image(png(3, 2, 9))
  const before = await host.list()
  await host.call('DELETE', `/delete?img=${first}`)
  expect(await host.list()).toEqual(before)
  expect(before.images.map(image => image.id)).toEqual([first, second])
  const limit = await host.requestUpload(picture, { file_size: picture.bytes.byteLength + 1 })
  expect(limit.json.code).toBe('STORAGE_LIMIT_REACHED')
})

test('several faults at once: the first in the order of the fields is answered', async () => {
  const host = await testHost()
  const bodies: [Record<string, unknown>, ErrorCode][] = [
    [{}, 'MISSING_FILE_NAME'],
    [{ file_name: 'a.png' }, 'MISSING_FILE_SIZE'],
    [{ file_name: 'a.png', file_size: '12' }, 'INVALID_FILE_SIZE'],
    [{ file_name: 'a.png', file_size: 12 }, 'MISSING_MIME_TYPE'],
    [{ file_name: 'a.png', file_size: 12, mime_type: 'image/png', height: 0 }, 'MISSING_WIDTH'],
    [{ file_name: 'a.png', file_size: 12, mime_type: 'image/png', width: 1, height: 0 }, 'INVALID_HEIGHT'],
    [{ ...declaration(picture), album_id: 'none', file_size: 2 ** 50 }, 'NOT_FOUND'],
  ]
  for (const [body, code] of bodies) expect((await host.call('POST', '/upload', body)).json.code).toBe(code)
})

test('null and an empty string count as missing', async () => {
  const host = await testHost()
  expect((await host.requestUpload(picture, { file_name: '' })).json.code).toBe('MISSING_FILE_NAME')
  expect((await host.requestUpload(picture, { width: null })).json.code).toBe('MISSING_WIDTH')
  expect((await host.requestUpload(picture, { album_id: null })).json.success).toBe(true)
  expect((await host.requestUpload(picture, { skip_dimension_check: null })).json.success).toBe(true)
})

test('fields of another JSON type are VALIDATION_ERROR', async () => {
  const host = await testHost()
  for (const change of [
    { file_name: 7 },
    { mime_type: [] },
    { skip_dimension_check: 'yes' },
    { album_id: 1 },
  ])
    expect((await host.requestUpload(picture, change)).json.code, JSON.stringify(change)).toBe(
      'VALIDATION_ERROR',
    )
  expect((await host.call('POST', '/create_album', { name: 3 })).json.code).toBe('VALIDATION_ERROR')
})

test('SVG, TIFF and skip_dimension_check need no width and height', async () => {
  const host = await testHost()
  const without = { width: undefined, height: undefined }
  for (const mime of ['image/svg+xml', 'image/tiff', 'image/tif', 'IMAGE/TIFF'])
    expect((await host.requestUpload(picture, { ...without, mime_type: mime })).json.success, mime).toBe(true)
  expect((await host.requestUpload(picture, { ...without, skip_dimension_check: true })).json.success).toBe(
    true,
  )
})

test('the other names that MIME types go by are taken', async () => {
  const host = await testHost()
  const others = ['jpg', 'pjpeg', 'x-png', 'x-ms-bmp', 'tif', 'vnd.microsoft.icon']
  for (const mime of [...others, 'heic'])
    expect((await host.requestUpload(picture, { mime_type: `image/${mime}` })).json.code, mime).toBe(
      mime === 'heic' ? 'VALIDATION_ERROR' : undefined,
    )
})

test('a body that is no JSON object, not declared as JSON, or too long is VALIDATION_ERROR', async () => {
  const host = await testHost()
  const post = async (body: string, type = 'application/json') => {
    const headers = { 'X-API-Key': KEY, 'Content-Type': type }
    const response = await fetch(`${host.running.baseUrl}/upload`, { method: 'POST', headers, body })
    return ((await response.json()) as { code?: string }).code
  }
  expect(await post('{')).toBe('VALIDATION_ERROR')
  expect(await post('')).toBe('VALIDATION_ERROR')
  expect(await post('[]')).toBe('VALIDATION_ERROR')
  expect(await post('null')).toBe('VALIDATION_ERROR')
  expect(await post(JSON.stringify(declaration(picture)), 'text/plain')).toBe('VALIDATION_ERROR')
  expect(await post(JSON.stringify({ ...declaration(picture), more: 'x'.repeat(64 * 1024) }))).toBe(
    'VALIDATION_ERROR',
  )
  expect(await post(JSON.stringify(declaration(picture)), 'application/json; charset=utf-8')).toBeUndefined()
})

test('a body without a declared length is cut off where it gets too long', async () => {
  const host = await testHost()
  const body = ReadableStream.from(Array.from({ length: 40 }, () => Buffer.alloc(4096, ' ')))
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const response = await fetch(`${host.running.baseUrl}/create_album`, init)
  expect(await response.json()).toMatchObject({ code: 'VALIDATION_ERROR' })
})

test('a path or method that is not in §4 is NOT_FOUND, below the base address only for those with a key', async () => {
  const host = await testHost()
  expect((await host.call('GET', '/nothing')).json.code).toBe('NOT_FOUND')
  expect((await host.call('GET', '/upload')).json.code).toBe('NOT_FOUND')
  for (const path of ['/nothing', '/', ''])
    expect((await host.call('GET', path, undefined, null)).json.code, path).toBe('MISSING_API_KEY')
  expect((await host.call('GET', '/api/presign')).json.code).toBe('NOT_FOUND')
  const nowhere = await fetch(`${host.running.siteUrl}/robots.txt`)
  expect([nowhere.status, await nowhere.json()]).toEqual([
    404,
    expect.objectContaining({ code: 'NOT_FOUND' }),
  ])
})

test("a fault of the host's own is told to whoever runs it, not to the client", async () => {
  const faults: Error[] = []
  const host = await testHost({ onFault: fault => faults.push(fault) })
  const url = await host.uploadUrl(picture)
  rmSync(join(host.data, 'pictures', 'incoming'), { recursive: true })
  const answer = await send(url, picture.bytes)
  expect([answer.status, failure.parse(answer.json).code]).toEqual([500, 'INTERNAL_ERROR'])
  expect(answer.json.error).not.toContain(host.data)
  expect(faults).toMatchObject([{ code: 'ENOENT' }])
})

test("a deletion that fails for a fault of the host's own is DELETE_FAILED", async () => {
  const faults: Error[] = []
  const host = await testHost({ onFault: fault => faults.push(fault) })
  const db = openDatabase(join(host.data, 'host.db'))
  db.exec('DROP TABLE images')
  db.close()
  const answer = await host.call('DELETE', '/delete?img=a')
  expect([answer.status, failure.parse(answer.json).code]).toEqual([500, 'DELETE_FAILED'])
  expect(faults).toHaveLength(1)
})

test('the site says what it is', async () => {
  const host = await testHost()
  const page = await fetch(host.running.siteUrl)
  expect(await page.json()).toEqual({
    service: 'albumd host',
    base_url: host.running.baseUrl,
    cdn_base_url: host.running.cdnBaseUrl,
  })
})

test('a free account may use nothing, a paid one what its plan has', async () => {
  const free = await testHost({ plan: 'free' })
  expect((await free.requestUpload(picture)).json.code).toBe('PLAN_NOT_SUPPORTED')
  const paid = await testHost({ plan: 'professional', plansFrom: 'flagship' })
  await paid.image(picture)
  expect((await paid.call('DELETE', '/delete?img=a')).json.code).toBe('PLAN_NOT_SUPPORTED')
  expect((await paid.call('POST', '/create_album', { name: 'a' })).json.code).toBe('PLAN_NOT_SUPPORTED')
})
