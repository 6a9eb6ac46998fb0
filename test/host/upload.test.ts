import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answers, imageRecord } from '../../src/protocol/records.ts'
import { png } from '../pictures.ts'
import { OTHER_KEY } from './choices.ts'
import { declaration, pictureFiles, send, testHost } from './test-host.ts'

const picture = png()

test('an upload by credential is listed in its album and delivered byte for byte', async () => {
  const host = await testHost()
  const album = await host.album('Holiday')
  const issued = answers.upload.parse((await host.requestUpload(picture, { album_id: album })).json)
  const sent = answers.send.parse((await send(issued.data.upload_url, picture.bytes)).json)
  expect(sent.cdn_url).toBe(issued.data.cdn_url)
  const [image] = (await host.list(album)).images
  expect(imageRecord.parse(image)).toMatchObject({
    id: sent.image_id,
    name: 'picture.png',
    width: 3,
    height: 2,
  })
  const delivered = await fetch(sent.cdn_url!)
  expect(Buffer.from(await delivered.arrayBuffer())).toEqual(picture.bytes)
  expect((await host.list()).images).toEqual([])
})

test('an upload by presign lands in the root, without its dimensions being compared', async () => {
  const host = await testHost()
  const { file_name, file_size, mime_type } = declaration(picture)
  const asked = await host.call('POST', '/api/presign', { file_name, file_size, mime_type })
  const { upload_token, upload_url, image_id } = answers.presign.parse(asked.json)
  expect(asked.json).not.toHaveProperty('success')
  const sent = answers.send.parse((await send(`${upload_url}?token=${upload_token}`, picture.bytes)).json)
  expect(sent).toMatchObject({ image_id, cdn_url: host.deliveryUrl(image_id) })
  expect((await host.list()).images[0]).toMatchObject({ id: image_id, width: 3, height: 2 })
})

test('the presign form refuses by the same codes, in the failure envelope', async () => {
  const host = await testHost({ maxFileSize: 10 })
  expect((await host.call('POST', '/api/presign', declaration(picture), null)).json.code).toBe(
    'MISSING_API_KEY',
  )
  expect((await host.call('POST', '/api/presign', { file_name: 'a' })).json.code).toBe('MISSING_FILE_SIZE')
  expect((await host.call('POST', '/api/presign', declaration(picture))).json.code).toBe('FILE_TOO_LARGE')
})

test('a credential is used up by one upload', async () => {
  const host = await testHost()
  const url = await host.uploadUrl(picture)
  expect((await send(url, picture.bytes)).json.success).toBe(true)
  const again = await send(url, picture.bytes)
  expect([again.status, again.json.code]).toEqual([403, 'FORBIDDEN'])
  expect((await host.list()).pagination.total_images).toBe(1)
})

test('of two uploads with one credential at once, one is stored', async () => {
  const host = await testHost()
  const url = await host.uploadUrl(picture)
  const both = await Promise.all([send(url, picture.bytes), send(url, picture.bytes)])
  expect(both.map(answer => answer.json.code ?? 'stored').sort()).toEqual(['FORBIDDEN', 'stored'])
  expect(pictureFiles(host.data)).toHaveLength(1)
})

test('an upload address that was never issued is NOT_FOUND', async () => {
  const host = await testHost()
  expect((await send(`${host.running.siteUrl}/node/made-up`, picture.bytes)).json.code).toBe('NOT_FOUND')
  expect((await send(`${host.running.siteUrl}/node`, picture.bytes)).json.code).toBe('NOT_FOUND')
})

test('file names from clients are labels: none becomes a path, each is listed as it was given', async () => {
  const host = await testHost()
  const names = [
    '../../escape.png',
    '/etc/passwd.png',
    'a\nb.png',
    'a\0b.png',
    `${'x'.repeat(251)}.png`,
    `${'😀'.repeat(251)}.png`,
    '.png',
    'ü\u0308 "é".PNG',
  ]
  for (const [shade, name] of names.entries()) {
    const url = await host.uploadUrl(png(3, 2, shade), { file_name: name })
    expect((await send(url, png(3, 2, shade).bytes, name)).json.success).toBe(true)
  }
  expect((await host.list()).images.map(image => image.name)).toEqual(names)
  const kept = join(host.data, 'pictures', 'kept')
  for (const file of pictureFiles(host.data))
    expect(file.slice(kept.length)).toMatch(/^.[0-9a-f]{2}.[0-9a-f]{32}$/)
  expect(pictureFiles(host.data)).toHaveLength(names.length)
  for (const character of ['x', '😀'])
    expect((await host.requestUpload(picture, { file_name: `${character.repeat(252)}.png` })).json.code).toBe(
      'VALIDATION_ERROR',
    )
})

test('an album that is deleted after step 1 gets no image, and the root neither', async () => {
  const host = await testHost()
  const album = await host.album('Short-lived')
  const url = await host.uploadUrl(picture, { album_id: album })
  await host.call('DELETE', `/delete?album=${album}`)
  expect((await send(url, picture.bytes)).json.code).toBe('NOT_FOUND')
  expect((await host.list()).images).toEqual([])
  expect(pictureFiles(host.data)).toEqual([])
})

test("an upload into another account's album is FORBIDDEN", async () => {
  const host = await testHost()
  const album = await host.album('Mine')
  expect((await host.requestUpload(picture, { album_id: album }, OTHER_KEY)).json.code).toBe('FORBIDDEN')
})

test('a picture of many megabytes is delivered as it was sent', async () => {
  const host = await testHost()
  const large = png(4000, 3000)
  const { json } = await host.upload(large)
  expect(json.success).toBe(true)
  const delivered = Buffer.from(await (await fetch(json.cdn_url)).arrayBuffer())
  expect(digest(delivered)).toBe(digest(large.bytes))
})

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
