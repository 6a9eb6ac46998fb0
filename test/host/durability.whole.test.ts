import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { STEPS } from '../../src/host/data/database.ts'
import { startHost } from '../../src/host/embedded-host.ts'
import { ENDPOINTS } from '../../src/protocol/endpoints.ts'
import { PROGRAM } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { serveRaw } from '../remote/serve.ts'
import { tempFolder } from '../temp-folder.ts'
import { KEY } from './choices.ts'
import { FORM, filePart, form } from './form.ts'
import { declaration, pictureFiles, send, testHost } from './test-host.ts'

const picture = png()

/** A real process that serves `data`. */
async function hostProcess(data: string) {
  const args = ['host', '--json', '--no-tls', '--listen', '127.0.0.1:0', '--data', data, '--api-key', KEY]
  const rates = ENDPOINTS.map(endpoint => `${endpoint}=unlimited`).join(',')
  const child = spawn(process.execPath, [PROGRAM, ...args, '--rates', rates], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  const { base_url: baseUrl } = JSON.parse(String(line))
  return {
    async call(method: string, path: string, body?: unknown) {
      const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' }
      const response = await fetch(baseUrl + path, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return response.json() as Promise<{ data: Record<string, string>; success: boolean }>
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

test('what was acknowledged is there after SIGKILL: albums, images, deletions and the quota', async () => {
  const data = tempFolder()
  const process = await hostProcess(data)
  const album = await process.call('POST', '/create_album', { name: 'Holiday' })
  const upload = async (shade: number) => {
    const shaded = png(3, 2, shade)
    const issued = await process.call('POST', '/upload', { ...declaration(shaded), album_id: albumId })
    return send(issued.data.upload_url!, shaded.bytes)
  }
  const albumId = (album.data.album as unknown as { id: string }).id
  const [deleted, kept] = [await upload(1), await upload(2)]
  await process.call('DELETE', `/delete?img=${deleted.json.image_id}`)
  await process.kill()

  const host = await testHost({ data, dailyQuota: 2 })
  expect((await host.list()).albums).toMatchObject([{ id: albumId, image_count: 1 }])
  expect((await host.list(albumId)).images).toMatchObject([{ id: kept.json.image_id }])
  const delivered = await fetch(host.deliveryUrl(kept.json.image_id))
  expect(Buffer.from(await delivered.arrayBuffer())).toEqual(png(3, 2, 2).bytes)
  expect((await host.requestUpload(picture)).json.code).toBe('DAILY_LIMIT_REACHED')
})

test('killed in mid-upload again and again, it lists exactly what it has acknowledged or could have', async () => {
  const data = tempFolder()
  const acknowledged: string[] = []
  for (let round = 0; round < 5; round += 1) {
    const process = await hostProcess(data)
    let answers = 0
    const uploads = Array.from({ length: 12 }, async (_, index) => {
      const shaded = png(300, 200, round * 12 + index)
      const issued = await process.call('POST', '/upload', declaration(shaded))
      const { json } = await send(issued.data.upload_url!, shaded.bytes)
      acknowledged.push(json.image_id)
      answers += 1
      // In the midst of the others, at another place each round.
      if (answers === 1 + 2 * round) await process.kill()
    })
    await Promise.allSettled(uploads)
    await process.kill()
  }
  const host = await testHost({ data })
  const { total_pages, total_images } = (await host.list()).pagination
  const listed: string[] = []
  for (let page = 1; page <= total_pages; page += 1)
    listed.push(...(await host.list(null, page)).images.map(image => image.id))
  expect(acknowledged.length).toBeGreaterThanOrEqual(1 + 3 + 5 + 7 + 9)
  expect(listed).toEqual(expect.arrayContaining(acknowledged))
  for (const id of listed) {
    const bytes = await (await fetch(host.deliveryUrl(id))).arrayBuffer()
    expect(bytes.byteLength).toBe(png(300, 200).bytes.byteLength)
  }
  expect(pictureFiles(data, 'kept')).toHaveLength(total_images)
  expect(pictureFiles(data, 'incoming')).toEqual([])
})

test('what a kill has left is cleared away at the start, what is listed stays', async () => {
  const data = tempFolder()
  const first = await testHost({ data })
  const id = await first.image(picture)
  await first.running.close()
  const orphan = 'ab'.padEnd(32, '0')
  mkdirSync(join(data, 'pictures', 'kept', 'ab'), { recursive: true })
  writeFileSync(join(data, 'pictures', 'kept', 'ab', orphan), 'bytes without a row')
  writeFileSync(join(data, 'pictures', 'incoming', 'half'), 'half a pict')

  const second = await testHost({ data })
  expect(pictureFiles(data, 'incoming')).toEqual([])
  expect(pictureFiles(data, 'kept')).toHaveLength(1)
  expect((await fetch(second.deliveryUrl(id))).status).toBe(200)
})

test('closing cuts off an upload under way, which leaves nothing behind', async () => {
  const host = await testHost()
  const large = png(1000, 1000)
  const url = await host.uploadUrl(large)
  const slow = request(url, {
    method: 'POST',
    headers: { 'Content-Type': FORM, 'Content-Length': 1_000_000 },
  })
  const cutOff = once(slow, 'error')
  slow.write(form(filePart(large.bytes)).subarray(0, 500_000))
  await expect.poll(() => pictureFiles(host.data, 'incoming')).toHaveLength(1)
  await host.running.close()
  expect(await cutOff).toMatchObject([{ code: 'ECONNRESET' }])
  expect(pictureFiles(host.data, 'incoming')).toEqual([])
  const again = await testHost({ data: host.data })
  expect((await again.list()).images).toEqual([])
})

test('a second host on the same data is refused, until the first has closed', async () => {
  const host = await testHost()
  await expect(testHost({ data: host.data })).rejects.toMatchObject({ code: 'HOST_DATA_IN_USE' })
  await host.running.close()
  await testHost({ data: host.data })
})

test('a killed host does not lock its data', async () => {
  const data = tempFolder()
  const process = await hostProcess(data)
  await expect(testHost({ data })).rejects.toMatchObject({ code: 'HOST_DATA_IN_USE' })
  await process.kill()
  expect((await (await testHost({ data })).list()).images).toEqual([])
})

test("a taken port is Node's EADDRINUSE, and leaves the data free", async () => {
  const { port } = new URL(await serveRaw(() => {}))
  const data = tempFolder()
  await expect(testHost({ data, listen: { host: '127.0.0.1', port: Number(port) } })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
  await testHost({ data })
})

test("an older version's data is taken over, with its albums and open credentials", async () => {
  const data = tempFolder()
  const db = new Database(join(data, 'host.db'))
  const sha256 = (text: string) => createHash('sha256').update(text).digest()
  db.exec(STEPS[0]!)
  db.pragma('user_version = 1')
  db.prepare('INSERT INTO accounts (id, key_hash) VALUES (1, ?)').run(sha256(KEY))
  db.exec(`INSERT INTO albums (seq, id, account, parent, name, depth, created_at)
    VALUES (1, 'root', 1, NULL, '', 0, 0), (2, 'old', 1, 1, 'Old', 1, 0)`)
  db.prepare(
    `INSERT INTO credentials
       (token_hash, account, image_id, album, name, size, width, height, compares, day, expires_at)
     VALUES (?, 1, 'issued', 2, 'a.png', ?, 3, 2, 1, 0, ?)`,
  ).run(sha256('token'), picture.bytes.byteLength, Date.now() + 600_000)
  db.close()
  const host = await testHost({ data })
  expect((await send(`${host.running.siteUrl}/node/token`, picture.bytes)).json.image_id).toBe('issued')
  expect((await host.list()).albums).toMatchObject([{ id: 'old', name: 'Old', image_count: 1 }])
})

test("a newer version's data is refused and left alone", async () => {
  const data = tempFolder()
  const db = new Database(join(data, 'host.db'))
  db.pragma('user_version = 99')
  db.close()
  await expect(testHost({ data })).rejects.toThrow(/newer albumd/)
})

test('a key finds its account again after a restart, and the data does not hold the key', async () => {
  const data = tempFolder()
  const start = () =>
    startHost({
      data,
      listen: { host: '127.0.0.1', port: 0 },
      apiKeys: [KEY],
      plan: 'professional',
      tls: false,
    })
  const host = await testHost({ data })
  await host.album('Mine')
  const token = (await host.uploadUrl(picture)).split('/').at(-1)!
  await host.running.close()
  const again = await start()
  onTestFinished(again.close)
  const answer = await fetch(`${again.baseUrl}/list`, { headers: { 'X-API-Key': KEY } })
  expect(await answer.json()).toMatchObject({ data: { albums: [{ name: 'Mine' }] } })
  await again.close()
  const files = readdirSync(data).filter(name => name.startsWith('host.db'))
  for (const secret of [KEY, token])
    for (const file of files) expect(readFileSync(join(data, file)).includes(secret), file).toBe(false)
})
