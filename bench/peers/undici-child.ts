import { hash, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
// Only what it needs is loaded, as albumd does.
import request from 'undici/lib/api/api-request.js'
import Client from 'undici/lib/dispatcher/client.js'

/** The process of `undiciAlone`. Arguments: the interface's address, the folder, how many at once. */
const [baseUrl, folder, atOnce] = process.argv.slice(2) as [string, string, string]
const names = readdirSync(folder)
/** Room around a picture for what the form puts there, so that no byte is copied. */
const ROOM = 1024

/** §4.1, §4.2: one picture after the other, by connections and memory of its own. */
async function work(): Promise<void> {
  const clients = new Map<string, Client>()
  let memory = Buffer.alloc(0)

  async function post(url: string, type: string, body: Buffer | string): Promise<unknown> {
    const { origin, pathname, search } = new URL(url)
    const client = clients.get(origin) ?? new Client(origin)
    clients.set(origin, client)
    const headers = { 'content-type': type }
    const asked = { path: pathname + search, method: 'POST', headers, body } as const
    return (await request.call(client, asked)).body.json()
  }

  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const file = await open(join(folder, name))
    const { size } = await file.stat()
    if (memory.length < size + 2 * ROOM) memory = Buffer.allocUnsafeSlow(size + 2 * ROOM)
    await file.read(memory, ROOM, size, 0)
    await file.close()
    hash('sha256', memory.subarray(ROOM, ROOM + size), 'buffer')
    const wanted = JSON.stringify({ file_name: name, file_size: size, mime_type: 'image/bmp' })
    const { data } = (await post(`${baseUrl}/upload`, 'application/json', wanted)) as {
      data: { upload_url: string }
    }
    const boundary = randomUUID()
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
    const tail = `\r\n--${boundary}--\r\n`
    const from = ROOM - memory.write(head, ROOM - head.length)
    const to = ROOM + size + memory.write(tail, ROOM + size)
    await post(data.upload_url, `multipart/form-data; boundary=${boundary}`, memory.subarray(from, to))
  }
  await Promise.all([...clients.values()].map(client => client.close()))
}

await Promise.all(Array.from({ length: Number(atOnce) }, work))
