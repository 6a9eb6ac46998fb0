import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { bodyOf, json, serve } from '../../remote/serve.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage } from '../stage/stage.ts'

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
  const { key } = stage
  stage.configure({
    host: { base_url: `${origin}/api/v1`, api_key_file: 'api-key' },
    mirrors: [{ folder: 'pictures', album: '' }],
    log: { level: 'debug', format: 'json' },
  })
  stage.write('p.png', png(3, 3).bytes)
  const daemon = await daemonHere(stage)
  await daemon.told('picture_failed')
  expect(heard).toContain(key)
  const said: string[] = []
  const commands = [['status'], ['status', '--json'], ['why', 'p.png', '--json']]
  for (const command of commands) {
    const { out, err } = await stage.here(...command, '-c', stage.config)
    said.push(out, err)
  }
  await daemon.stop()
  const sync = await stage.here('sync', '-c', stage.config, '--log-level', 'debug')
  said.push(sync.out, sync.err, daemon.out(), daemon.err())
  const state = join(stage.home, 'state')
  expect(readdirSync(state)).toContain('albumd.db')
  for (const name of readdirSync(state))
    if (statSync(join(state, name)).isFile()) said.push(readFileSync(join(state, name), 'latin1'))
  // What the host said is passed on, without them.
  expect(said.filter(text => text.includes('Authorization'))).not.toEqual([])
  for (const text of said)
    for (const secret of [key, Buffer.from(key).toString('base64'), CREDENTIAL])
      expect(text).not.toContain(secret)
})
