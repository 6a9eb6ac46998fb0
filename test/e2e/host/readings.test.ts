import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { startEditProxy } from '../stage/edit-proxy.ts'
import { ok } from '../stage/holds.ts'
import { call, setStage } from '../stage/stage.ts'

it('a host that lists nothing, and knows no album that is too deep, gets no twin of the album above', async () => {
  const stage = await setStage({ host: { readings: { depthMax: 1, tooDeep: 'NOT_FOUND' } } })
  const made: string[] = []
  const base_url = await startEditProxy(stage.baseUrl, ({ path, body }) => {
    if (path === '/create_album') made.push(body.name)
    return path === '/list' ? { status: 403, code: 'PLAN_NOT_SUPPORTED' } : undefined
  })
  stage.configure({ host: { base_url, api_key_file: 'api-key' } })
  const files = ['red.png', 'deep/blue.png', 'deep/green.png', 'other/white.png']
  for (const [n, path] of files.entries()) {
    stage.write(path, png(3, 2, n).bytes)
    await stage.pass()
  }
  expect(await stage.paths()).toEqual(files.map(path => `Photos/${basename(path)}`).toSorted())
  expect(await stage.albums()).toEqual(['Photos'])
  expect(made).toEqual(['Photos', 'deep', 'deep', 'other'])
})

it('an album that another program makes at the same moment is used, where names are unique', async () => {
  const stage = await setStage({ host: { readings: { albumNames: 'unique' } } })
  const others: string[] = []
  const base_url = await startEditProxy(stage.baseUrl, async ({ path, body }) => {
    if (path !== '/create_album' || others.includes(body.name)) return undefined
    others.push(body.name)
    await call(stage, 'POST', '/create_album', body)
    return undefined
  })
  stage.configure({ host: { base_url, api_key_file: 'api-key' } })
  stage.write('deep/blue.png', png(3, 2).bytes)
  ok(await stage.here('sync'))
  expect(others).toEqual(['Photos', 'deep'])
  expect(await stage.paths()).toEqual(['Photos/deep/blue.png'])
})

it('ls and url tell the addresses that the listing gives, where no upload told one and the state is lost', async () => {
  const stage = await setStage({
    pictures: { 'red.png': png(3, 2).bytes },
  })
  rmSync(join(stage.home, 'state'), { recursive: true })
  ok(await stage.here('adopt', '--verify', '--config', stage.config))
  const [id] = (await stage.listing()).map(line => line.slice(line.lastIndexOf(' ') + 1))
  const url = await stage.here('url', join(stage.pictures, 'red.png'), '--config', stage.config)
  expect(url).toMatchObject({ code: 0, out: expect.stringMatching(`^https?://.+/i/${id}\n$`) })
  const { out } = await stage.here('ls', '--format', 'json', '--config', stage.config)
  expect(JSON.parse(out)).toMatchObject([{ image_id: id, cdn_url: url.out.trim(), proof: 'compared' }])
})
