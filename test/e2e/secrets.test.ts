import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { png } from '../pictures.ts'
import { bodyOf, json, serve } from '../remote/serve.ts'
import { startDaemon } from './daemon-process.ts'
import { runProgram, setStage } from './stage.ts'

const CREDENTIAL = 'credential-0123456789abcdef'

/** A host that repeats in its words and codes all that it was ever told, and answers no upload well. */
async function gossip(): Promise<{ origin: string; heard: Set<string> }> {
  const heard = new Set<string>()
  const origin = await serve(async (request, response) => {
    const key = request.headers['x-api-key']
    if (typeof key === 'string') heard.add(key)
    await bodyOf(request)
    const where = `${origin}/put/${CREDENTIAL}`
    const all = [...heard].join(' ')
    const words = `${all} Authorization: Bearer ${all} ${where} ${encodeURIComponent(where)} ${request.url}`
    const refuse = (status: number, code: string) =>
      json(response, status, { success: false, error: words, code, message: words })
    if (request.url!.startsWith('/api/v1/list')) {
      const pagination = { page: 1, per_page: 20, total_pages: 0, total_images: 0 }
      const data = { albums: [], images: [], pagination, cdn_base_url: origin }
      json(response, 200, { success: true, data })
    } else if (request.url === '/api/v1/upload')
      json(response, 200, { success: true, data: { upload_url: where, cdn_url: `${origin}/i/1.png` } })
    else if (request.url!.includes(CREDENTIAL)) refuse(400, `WRONG_${all}`)
    else refuse(500, 'DELETE_FAILED')
  })
  return { origin, heard }
}

it('no key and no credential is in the log, the state or what the commands say, whatever the host repeats', async () => {
  const stage = await setStage()
  const { origin, heard } = await gossip()
  const key = readFileSync(join(stage.home, 'api-key'), 'utf8').trim()
  const config = {
    host: { base_url: `${origin}/api/v1`, api_key_file: 'api-key' },
    mirrors: [{ folder: 'pictures', album: '' }],
    watch: { settle: '100ms' },
    state_dir: 'state',
    status_page: { listen: 'off' },
    log: { level: 'debug', format: 'json' },
  }
  writeFileSync(stage.config, stringify(config))
  stage.write('p.png', png(3, 3).bytes)
  const daemon = startDaemon(stage)
  await daemon.told('picture_failed')
  expect(heard).toContain(key)
  const said: string[] = []
  const commands = [['status'], ['status', '--json'], ['why', 'p.png', '--json']]
  const runs = await Promise.all(commands.map(command => stage.albumd(...command, '-c', stage.config)))
  for (const { out, err } of runs) said.push(out, err)
  await daemon.stop()
  const sync = await runProgram(['sync', '-c', stage.config, '--log-level', 'debug'], stage.home)
  said.push(sync.out, sync.err, daemon.out(), daemon.err())
  mkdirSync(join(stage.home, 'state'), { recursive: true })
  for (const name of readdirSync(join(stage.home, 'state'))) {
    const path = join(stage.home, 'state', name)
    if (statSync(path).isFile()) said.push(readFileSync(path, 'latin1'))
  }
  expect(daemon.out()).toContain('picture_failed')
  for (const text of said)
    for (const secret of [key, Buffer.from(key).toString('base64'), CREDENTIAL])
      expect(text).not.toContain(secret)
}, 120_000)
