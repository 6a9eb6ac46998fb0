import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PROGRAM, runProgram } from '../stage/stage.ts'

/** SIGTERM comes as soon as it is listened for. */
const INTERRUPTED = `data:text/javascript,process.on('newListener', name => {
  if (name === 'SIGTERM') setImmediate(() => process.emit('SIGTERM'))
})`

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-host-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

/** The host as its own process, once it listens. */
async function serve(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'host', '--listen', '127.0.0.1:0', '--json', ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', chunk => resolve(String(chunk)))
    child.once('exit', code => reject(new Error(`exited with ${code}`)))
  })
  return {
    told: JSON.parse(line) as Record<string, string>,
    stop: () =>
      new Promise(resolve => {
        child.once('exit', resolve)
        child.kill('SIGTERM')
      }),
  }
}

describe('albumd host', () => {
  it('tells in one line where it listens, over TLS with its own authority, and stops cleanly', async () => {
    const { told, stop } = await serve('--data', dataFolder(), '--api-key', 'k1')
    expect(Object.keys(told).sort()).toEqual([
      'api_key',
      'base_url',
      'ca_file',
      'cdn_base_url',
      'port',
      'schema',
      'site_url',
    ])
    const dispatcher = new Agent({ connect: { ca: readFileSync(told.ca_file!) } })
    const response = await fetch(`${told.base_url}/list`, { headers: { 'x-api-key': 'k1' }, dispatcher })
    expect(response.status).toBe(200)
    await expect(fetch(`${told.base_url}/list`)).rejects.toThrow()
    await dispatcher.close()
    expect(await stop()).toBe(0)
  })

  it('takes rates, limits, a default album and a day from the command line', async () => {
    const { told } = await serve(
      ...['--data', dataFolder(), '--api-key', 'k', '--no-tls', '--daily-quota', '1'],
      ...['--rates', 'list=1,create_album=unlimited', '--default-album', 'Photos/Inbox'],
      ...['--day-begins', '00:00 Asia/Shanghai', '--max-file-size', '1kb', '--plan', 'flagship'],
    )
    expect(told.ca_file).toBeNull()
    const call = async (path: string, body?: object) => {
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
      const headers = { 'x-api-key': 'k', 'content-type': 'application/json' }
      const response = await fetch(`${told.base_url}${path}`, { ...init, headers })
      return { response, json: (await response.json()) as { code?: string; data: Record<string, never[]> } }
    }
    const listed = await call('/list')
    expect(listed.response.headers.get('x-ratelimit-limit')).toBe('1')
    const [photos] = listed.json.data.albums as unknown as { id: string; name: string; sub_count: number }[]
    expect(photos).toMatchObject({ name: 'Photos', sub_count: 1 })
    const made = await call('/create_album', { name: 'b', parent_album: photos!.id })
    expect(made.response.headers.has('x-ratelimit-limit')).toBe(false)
    const order = { file_name: 'a.png', file_size: 9, mime_type: 'image/png', width: 1, height: 1 }
    expect((await call('/upload', { ...order, file_size: 1025 })).json.code).toBe('FILE_TOO_LARGE')
    expect((await call('/upload', order)).response.status).toBe(200)
    const before = Date.now()
    const refused = await call('/upload', order)
    expect(refused.json.code).toBe('DAILY_LIMIT_REACHED')
    // Shanghai is eight hours ahead, the whole year.
    const left = (at: number) => 86_400 - ((at / 1000 + 8 * 3600) % 86_400)
    const promised = Number(refused.response.headers.get('retry-after'))
    expect(Math.abs(promised - left(before)) % 86_400).toBeLessThan(60)
  })

  it('refuses an address that is none in one line', async () => {
    const args = ['--data', dataFolder(), '--api-key', 'k', '--listen', 'nowhere']
    expect(await runProgram(['host', ...args], tmpdir())).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^albumd: --listen .*\n$/),
    })
  })

  it('refuses a second one on the same data', async () => {
    const data = dataFolder()
    await serve('--data', data, '--api-key', 'k')
    const { code } = await runProgram(
      ['host', '--data', data, '--api-key', 'k', '--listen', '127.0.0.1:0'],
      tmpdir(),
    )
    expect(code).toBe(4)
  })

  it('ends when it is interrupted while it starts', async () => {
    const args = ['host', '--data', dataFolder(), '--api-key', 'k', '--listen', '127.0.0.1:0']
    const child = spawn(process.execPath, ['--import', INTERRUPTED, PROGRAM, ...args])
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await new Promise(resolve => child.once('exit', resolve))).toBe(0)
  })
})
