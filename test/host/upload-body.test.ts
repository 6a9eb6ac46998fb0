import { request } from 'node:http'
import { expect, test } from 'vitest'
import { png } from '../pictures.ts'
import { OTHER_KEY } from './choices.ts'
import { FORM, filePart, form, type Part } from './form.ts'
import { type Answer, answered, pictureFiles, send, type TestHost, testHost } from './test-host.ts'

const picture = png()

function post(url: string, type: string, body: string | Uint8Array): Promise<Answer> {
  const bytes = typeof body === 'string' ? body : new Uint8Array(body)
  return fetch(url, { method: 'POST', headers: { 'Content-Type': type }, body: bytes }).then(answered)
}

/** A request whose form is written piece by piece. */
const begin = (url: string, length?: number) =>
  request(url, {
    method: 'POST',
    headers: { 'Content-Type': FORM, ...(length !== undefined && { 'Content-Length': length }) },
  })

test('a refused upload leaves nothing behind, and its credential can still be used', async () => {
  const host = await testHost()
  const url = await host.uploadUrl(picture)
  const refusals: [Answer, string][] = [
    [await send(url, png(9, 9).bytes), 'INVALID_FILE_SIZE'],
    [await send(url, picture.bytes.subarray(1)), 'INVALID_FILE_SIZE'],
    [await send(url, Buffer.alloc(picture.bytes.byteLength)), 'UNREADABLE_DIMENSION'],
    [await send(url, Buffer.alloc(5_000_000)), 'INVALID_FILE_SIZE'],
    [await post(url, 'application/octet-stream', picture.bytes), 'VALIDATION_ERROR'],
    [await post(url, 'multipart/form-data', picture.bytes), 'VALIDATION_ERROR'],
    [await post(url, FORM, 'no form'), 'VALIDATION_ERROR'],
    [await post(url, FORM, form(filePart(picture.bytes)).subarray(0, -10)), 'VALIDATION_ERROR'],
    [
      await post(url, FORM, form({ head: 'Content-Disposition: form-data; name="x"', content: 'y' })),
      'MISSING_PARAMS',
    ],
    [await post(url, FORM, form(filePart(picture.bytes), filePart('more'))), 'INVALID_PARAMS'],
    [await post(url, FORM, form({ head: 'X: y', content: picture.bytes })), 'MISSING_PARAMS'],
  ]
  expect(refusals.map(([answer]) => answer.json.code)).toEqual(refusals.map(([, code]) => code))
  expect(pictureFiles(host.data)).toEqual([])
  expect((await send(url, picture.bytes)).json.success).toBe(true)
})

test('other parts beside the file are passed over', async () => {
  const host = await testHost()
  const note = { head: 'Content-Disposition: form-data; name="note"', content: 'hello' }
  const other = {
    head: 'Content-Disposition: form-data; name="other"; filename="o.png"',
    content: 'z'.repeat(9000),
  }
  const unnamed = { head: 'Content-Disposition: form-data; name="file"', content: picture.bytes }
  const url = await host.uploadUrl(picture)
  expect((await post(url, FORM, form(note, other, unnamed, note))).json.success).toBe(true)
})

test('parts before the file may be many or large, up to a mebibyte beyond the picture', async () => {
  const host = await testHost()
  const note = (bytes: number) => ({
    head: 'Content-Disposition: form-data; name="note"',
    content: 'n'.repeat(bytes),
  })
  const file = filePart(picture.bytes)
  for (const parts of [[note(100_000)], Array<Part>(500).fill(note(10)), [note(1_000_000)]]) {
    const url = await host.uploadUrl(picture)
    expect((await post(url, FORM, form(...parts, file))).json.success).toBe(true)
  }
  const url = await host.uploadUrl(picture)
  expect((await post(url, FORM, form(note(2 ** 20), file))).json.code).toBe('INVALID_FILE_SIZE')
})

test('a client that disconnects in mid-body leaves nothing behind, and can use its credential again', async () => {
  const host = await testHost()
  const large = png(1000, 1000)
  const url = await host.uploadUrl(large)
  await new Promise<void>(resolve => {
    const started = begin(url, 1_100_000)
    started.on('error', () => resolve())
    started.write(form(filePart(large.bytes)).subarray(0, 500_000))
    void expect
      .poll(() => pictureFiles(host.data))
      .toHaveLength(1)
      .then(() => started.destroy())
  })
  await expect.poll(() => pictureFiles(host.data)).toHaveLength(0)
  expect((await send(url, large.bytes)).json.success).toBe(true)
})

test('a form that busboy does not get past ends with its connection', async () => {
  const host = await testHost()
  const nameless = { head: 'X: y', content: 'n'.repeat(100_000) }
  const body = form(nameless, filePart(picture.bytes))
  const stuck = begin(await host.uploadUrl(picture), body.byteLength)
  stuck.on('error', () => {})
  await new Promise<void>(resolve => void stuck.write(body, () => resolve()))
  await expect.poll(() => pictureFiles(host.data)).toHaveLength(1)
  stuck.destroy()
  await expect.poll(() => pictureFiles(host.data)).toHaveLength(0)
})

test('a body that goes on beyond what was declared is cut off', async () => {
  const host = await testHost()
  const endless = begin(await host.uploadUrl(picture))
  let bytes = 0
  const cutOff = new Promise<void>(resolve => {
    endless.on('error', () => resolve())
    endless.on('close', () => resolve())
  })
  const answer = new Promise<number | undefined>(resolve =>
    endless.on('response', response => resolve(response.statusCode)),
  )
  endless.write('--edge\r\nContent-Disposition: form-data; name="note"\r\n\r\n')
  const block = Buffer.alloc(64 * 1024, 'x')
  const more = setInterval(() => {
    bytes += block.byteLength
    endless.write(block)
  }, 1)
  expect(await answer).toBe(400)
  await cutOff
  clearInterval(more)
  expect(bytes).toBeGreaterThan(0)
})

/** An upload that is under way until it is told to end. */
async function beginUpload(host: TestHost, url: string) {
  const body = form(filePart(picture.bytes))
  const slow = begin(url, body.byteLength)
  const answered = new Promise(resolve => slow.on('response', resolve))
  slow.write(body.subarray(0, 100))
  await expect.poll(() => pictureFiles(host.data)).toHaveLength(1)
  return {
    end() {
      slow.end(body.subarray(100))
      return answered
    },
  }
}

test('with too many uploads of an account under way it has no node, until one has ended', async () => {
  const host = await testHost({ readings: { openUploadsMax: 1 } })
  const [first, second] = [await host.uploadUrl(picture), await host.uploadUrl(picture)]
  const slow = await beginUpload(host, first)
  const refused = await send(second, picture.bytes)
  expect([refused.status, refused.json.code]).toEqual([503, 'NO_AVAILABLE_IO_NODE'])
  expect((await host.requestUpload(picture)).json.code).toBe('NO_AVAILABLE_IO_NODE')
  expect((await host.upload(picture, {}, OTHER_KEY)).json.success).toBe(true)
  await slow.end()
  expect((await send(second, picture.bytes)).json.success).toBe(true)
})

test('with too many uploads under way in all, no account has a node', async () => {
  const host = await testHost({ readings: { openUploadsInAllMax: 1 } })
  const slow = await beginUpload(host, await host.uploadUrl(picture))
  expect((await host.requestUpload(picture, {}, OTHER_KEY)).json.code).toBe('NO_AVAILABLE_IO_NODE')
  await slow.end()
  expect((await host.upload(picture, {}, OTHER_KEY)).json.success).toBe(true)
})
