import { expect, test } from 'vitest'
import { imageRecord } from '../../src/protocol/records.ts'
import { png, svg, type TestPicture } from '../pictures.ts'
import { send, testHost } from './test-host.ts'

const picture = png()
const drawing = sized(svg('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"/>'), 300, 200)
const sizeless = svg('<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>')
const scan = tiff(300, 200)
const prose = Buffer.from('<!doctype html><script>alert(1)</script>')

const undeclared = { width: undefined, height: undefined }

function sized(of: TestPicture, width: number, height: number): TestPicture {
  return { ...of, width, height }
}

/** A TIFF's directory, which is all that its dimensions take. */
function tiff(width: number, height: number): TestPicture {
  const bytes = Buffer.alloc(8 + 2 + 2 * 12 + 4)
  bytes.write('II*\0', 'latin1')
  bytes.writeUInt32LE(8, 4)
  bytes.writeUInt16LE(2, 8)
  for (const [index, [tag, value]] of Object.entries([
    [256, width],
    [257, height],
  ] as const)) {
    const at = 10 + 12 * Number(index)
    bytes.writeUInt16LE(tag, at)
    // One LONG.
    bytes.writeUInt16LE(4, at + 2)
    bytes.writeUInt32LE(1, at + 4)
    bytes.writeUInt32LE(value, at + 8)
  }
  return { name: 'scan.tiff', mime: 'image/tiff', width, height, bytes }
}

test('dimensions may differ by one pixel, not by two', async () => {
  const host = await testHost()
  const off = (pixels: number) => sized(picture, picture.width, picture.height + pixels)
  expect((await host.upload(off(1))).json.success).toBe(true)
  expect((await host.upload(off(-1))).json.success).toBe(true)
  expect((await host.upload(off(2))).json.code).toBe('DIMENSION_MISMATCH')
  expect((await host.upload(off(2), { skip_dimension_check: true })).json.success).toBe(true)
})

test('declared dimensions are compared whatever the bytes are, but not of a type that is exempt', async () => {
  const host = await testHost()
  const codeAs = async (sent: TestPicture, mime_type: string, width: number) =>
    (await host.upload(sent, { mime_type, width })).json.code
  for (const sent of [drawing, scan, png(300, 200)]) {
    expect(await codeAs(sent, 'image/png', 301), sent.name).toBeUndefined()
    expect(await codeAs(sent, 'image/png', 10), sent.name).toBe('DIMENSION_MISMATCH')
  }
  for (const sent of [drawing, scan])
    for (const mime_type of ['image/svg+xml', 'image/tiff'])
      expect(await codeAs(sent, mime_type, 10), sent.name).toBeUndefined()
})

test('where dimensions were declared of another type, an SVG without a size has none that can be read', async () => {
  const host = await testHost()
  const declaredAs = async (mime_type: string) =>
    (await host.upload(sized(sizeless, 10, 10), { mime_type })).json
  expect((await declaredAs('image/png')).code).toBe('UNREADABLE_DIMENSION')
  expect((await declaredAs('image/svg+xml')).success).toBe(true)
})

test('where none were declared, SVG and TIFF are taken and nothing else is', async () => {
  const host = await testHost()
  for (const mime_type of ['image/svg+xml', 'image/tiff', 'image/tif']) {
    const declared = { mime_type, ...undeclared }
    for (const sent of [drawing, sizeless, scan])
      expect((await host.upload(sent, declared)).json.success, mime_type).toBe(true)
    expect((await host.upload(picture, declared)).json.code, mime_type).toBe('MISSING_DIMENSION')
    expect((await host.upload({ ...picture, bytes: prose }, declared)).json.code, mime_type).toBe(
      'UNREADABLE_DIMENSION',
    )
  }
})

test('one dimension alone is required of a PNG, and declares nothing of an SVG', async () => {
  const host = await testHost()
  expect((await host.upload(drawing, { width: 10, height: undefined })).json.success).toBe(true)
  expect((await host.requestUpload(picture, { height: undefined })).json.code).toBe('MISSING_HEIGHT')
})

test('dimensions that are illegal are refused also where they are not required', async () => {
  const host = await testHost()
  for (const free of [
    { mime_type: 'image/svg+xml' },
    { mime_type: 'image/tif' },
    { skip_dimension_check: true },
  ]) {
    const code = async (change: object) =>
      (await host.requestUpload(picture, { ...free, ...change })).json.code
    expect(await code({ width: -5 })).toBe('INVALID_WIDTH')
    expect(await code({ height: 'z' })).toBe('INVALID_HEIGHT')
    expect(await code({ height: 2 ** 31 })).toBe('INVALID_DIMENSION')
    expect(await code({ width: null, height: '' })).toBeUndefined()
  }
})

test('a picture whose dimensions cannot be read is taken where the check is skipped', async () => {
  const host = await testHost()
  // Cut off within the header that holds them.
  const cut = { ...picture, bytes: Buffer.concat([picture.bytes.subarray(0, 16), Buffer.alloc(20)]) }
  expect((await host.upload(cut)).json.code).toBe('UNREADABLE_DIMENSION')
  const { json } = await host.upload(cut, { skip_dimension_check: true })
  expect(json.success).toBe(true)
  const delivered = await fetch(json.cdn_url)
  expect(delivered.headers.get('Content-Type')).toBe('image/png')
})

test('any bytes are taken where the check is skipped, and delivered as what was declared, safely', async () => {
  const host = await testHost()
  const page = { ...picture, bytes: prose }
  const { json } = await host.upload(page, {
    skip_dimension_check: true,
    mime_type: 'IMAGE/JPG',
    ...undeclared,
  })
  expect(json.success).toBe(true)
  const delivered = await fetch(json.cdn_url)
  expect(Buffer.from(await delivered.arrayBuffer())).toEqual(prose)
  expect(delivered.headers.get('Content-Type')).toBe('image/jpeg')
  expect(delivered.headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(delivered.headers.get('Content-Security-Policy')).toContain('sandbox')
  await host.image(page, { skip_dimension_check: true })
  const listed = (await host.list()).images.map(image => imageRecord.parse(image))
  expect(listed).toMatchObject([
    { width: 1, height: 1 },
    { width: picture.width, height: picture.height },
  ])
})

test('the presign form skips the check', async () => {
  const host = await testHost()
  const body = { file_name: 'a.gif', file_size: prose.byteLength, mime_type: 'image/gif' }
  const { upload_token, upload_url } = (await host.call('POST', '/api/presign', body)).json
  const { json } = await send(`${upload_url}?token=${upload_token}`, prose)
  expect((await fetch(json.cdn_url)).headers.get('Content-Type')).toBe('image/gif')
})

test('an SVG without a size is listed with the dimensions that §2 requires', async () => {
  const host = await testHost()
  await host.image(sizeless)
  expect(imageRecord.parse((await host.list()).images[0])).toMatchObject({ width: 1, height: 1 })
})
