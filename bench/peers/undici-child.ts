import { createHash, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'

/** The process of `undiciAlone`. Arguments: the interface's address, the folder, how many at once. */
const [baseUrl, folder, atOnce] = process.argv.slice(2) as [string, string, string]
const dispatcher = new Agent({ connections: Number(atOnce) })
const names = readdirSync(folder)

async function post(url: string, type: string, body: Buffer | string): Promise<unknown> {
  const answer = await request(url, { dispatcher, method: 'POST', headers: { 'content-type': type }, body })
  return answer.body.json()
}

/** §4.1, §4.2 */
async function send(name: string): Promise<void> {
  const bytes = await readFile(join(folder, name))
  createHash('sha256').update(bytes).digest()
  const wanted = { file_name: name, file_size: bytes.length, mime_type: 'image/bmp' }
  const { data } = (await post(`${baseUrl}/upload`, 'application/json', JSON.stringify(wanted))) as {
    data: { upload_url: string }
  }
  const boundary = randomUUID()
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
  await post(data.upload_url, `multipart/form-data; boundary=${boundary}`, body)
}

async function work(): Promise<void> {
  for (let name = names.pop(); name !== undefined; name = names.pop()) await send(name)
}

await Promise.all(Array.from({ length: Number(atOnce) }, work))
