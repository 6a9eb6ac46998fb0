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
    expect(Object.keys(told).sort()).toEqual(['api_key', 'base_url', 'ca_file', 'cdn_base_url', 'site_url'])
    const dispatcher = new Agent({ connect: { ca: readFileSync(told.ca_file!) } })
    const response = await fetch(`${told.base_url}/list`, { headers: { 'x-api-key': 'k1' }, dispatcher })
    expect(response.status).toBe(200)
    await expect(fetch(`${told.base_url}/list`)).rejects.toThrow()
    await dispatcher.close()
    expect(await stop()).toBe(0)
  })

  it('takes its limits from the command line', async () => {
    const { told } = await serve(
      '--data',
      dataFolder(),
      '--api-key',
      'k',
      '--no-tls',
      '--max-file-size',
      '1kb',
      '--plan',
      'flagship',
    )
    expect(told.ca_file).toBeNull()
    const response = await fetch(`${told.base_url}/upload`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
      body: JSON.stringify({
        file_name: 'a.png',
        file_size: 1025,
        mime_type: 'image/png',
        width: 1,
        height: 1,
      }),
    })
    expect(await response.json()).toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it.each([
    [['--max-file-size', 'huge'], '--max-file-size'],
    [['--credential-ttl', 'soon'], '--credential-ttl'],
    [['--listen', 'nowhere'], '--listen'],
    [['--plan', 'gold'], 'plan'],
  ])('refuses %j in one line', async (args, named) => {
    const { code, err } = await runProgram(
      ['host', '--data', dataFolder(), '--api-key', 'k', ...args],
      tmpdir(),
    )
    expect(code).toBe(2)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect(err).toContain(named)
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
