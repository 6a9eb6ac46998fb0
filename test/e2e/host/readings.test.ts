import { readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import type { Readings } from '../../../src/host/readings.ts'
import { CHOICES } from '../../../src/protocol/decisions.ts'
import { cameraPicture } from '../../page/camera-picture.ts'
import { png } from '../../pictures.ts'
import { startEditProxy } from '../stage/edit-proxy.ts'
import { inParallel } from '../stage/in-parallel.ts'
import { call, type Run, type Stage, setStage, sha256 } from '../stage/stage.ts'

const sample = (path: string) =>
  readFileSync(join(import.meta.dirname, '../../../src/cli/try/pictures', path))

/** Each choice taken as everything that it is not by itself. */
const CHOSEN = Object.entries(CHOICES).flatMap(([name, [, , values]]) =>
  values.slice(1).map((value): Partial<Readings> => ({ [name]: value })),
)

/** Amounts and codes that albumd's requests meet. */
const MET: readonly Partial<Readings>[] = [
  { fileNameMax: 12 },
  { openUploadsInAllMax: 1 },
  { credentialRemembered: 0 },
  { unknownDimension: 0 },
  { depthMax: 1 },
  { depthMax: 1, tooDeep: 'VALIDATION_ERROR' },
  { depthMax: 1, tooDeep: 'FORBIDDEN' },
]

it('albumd mirrors, changes, deletes, audits and adopts on a host of each single reading', async () => {
  await inParallel(4, [...CHOSEN, ...MET], mirrorsOn)
}, 300_000)

/** Six kinds of pictures: one that EXIF turns, two whose types need no dimensions, one whose name stands for another type. */
async function mirrorsOn(readings: Partial<Readings>): Promise<void> {
  const stage = await setStage({ host: { readings }, config: { deletions: { grace: '0', hold_min: 20 } } })
  const files = new Map<string, Buffer>([
    ['red.png', png(3, 2, 1).bytes],
    ['turned.jpg', cameraPicture(sample('Holiday/Coast/Sunset on the beach.jpg'), 6, 0)],
    ['scan.tif', sample('Scans/Letter, page 2.tif')],
    ['drawing.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>')],
    ['tief ü /blue.png', png(3, 2, 2).bytes],
    ['a png.jpg', png(7, 2, 5).bytes],
  ])
  for (const [path, bytes] of files) stage.write(path, bytes)
  ok(await stage.sync())
  await holds(stage, files)

  files.set('red.png', png(30, 20, 3).bytes)
  files.set('new.png', png(5, 5, 4).bytes)
  for (const path of ['red.png', 'new.png']) stage.write(path, files.get(path)!)
  files.delete('tief ü /blue.png')
  rmSync(join(stage.pictures, 'tief ü /blue.png'))
  ok(await stage.sync())
  await holds(stage, files)

  ok(await stage.albumd('audit', '--config', stage.config))
  const before = await stage.listing()
  rmSync(join(stage.home, 'state'), { recursive: true })
  ok(await stage.albumd('adopt', '--config', stage.config))
  expect(await stage.listing()).toEqual(before)
}

it('a host that takes no name of another type refuses one picture, and doctor says what was learned', async () => {
  const stage = await setStage({ host: { readings: { fileName: 'matching' } } })
  const files = new Map(['a.jpg', 'b.gif', 'c.tif', 'd.png'].map((name, n) => [name, png(3, 2, n).bytes]))
  for (const [path, bytes] of files) stage.write(path, bytes)
  ok(await stage.sync())
  await holds(stage, files)
  expect(await stage.paths()).toEqual([...files.keys()].map(name => `Photos/${name}`))
  const { findings } = await stage.json('doctor')
  expect(findings).toContainEqual(expect.objectContaining({ learned: { declared_type: 'name' } }))
})

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
    await stage.sync()
  }
  expect(await stage.paths()).toEqual(files.map(path => `Photos/${basename(path)}`).toSorted())
  expect(await stage.albums()).toEqual(['Photos'])
  expect(made).toEqual(['Photos', 'deep'])
  const { findings } = await stage.json('doctor')
  expect(findings).toContainEqual(expect.objectContaining({ learned: { closed_albums: ['Photos'] } }))
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
  ok(await stage.sync())
  expect(others).toEqual(['Photos', 'deep'])
  expect(await stage.paths()).toEqual(['Photos/deep/blue.png'])
})

it('ls and url tell the addresses that the listing gives, where no upload told one and the state is lost', async () => {
  const stage = await setStage({
    host: { readings: { cdnUrl: 'neither' } },
    pictures: { 'red.png': png(3, 2).bytes },
  })
  rmSync(join(stage.home, 'state'), { recursive: true })
  ok(await stage.albumd('adopt', '--verify', '--config', stage.config))
  const [id] = (await stage.listing()).map(line => line.slice(line.lastIndexOf(' ') + 1))
  const url = await stage.albumd('url', join(stage.pictures, 'red.png'), '--config', stage.config)
  expect(url).toMatchObject({ code: 0, out: expect.stringMatching(`^https?://.+/i/${id}\n$`) })
  const { out } = await stage.albumd('ls', '--format', 'json', '--config', stage.config)
  expect(JSON.parse(out)).toMatchObject([{ image_id: id, cdn_url: url.out.trim(), proof: 'compared' }])
})

function ok({ code, out, err }: Run): void {
  expect(code, `${out}${err}`).toBe(0)
}

/** Whether the host delivers the bytes of these files, and of no others. */
async function holds(stage: Stage, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const hashes = [...files.values()].map(sha256)
  expect(Object.values(await stage.delivered()).sort()).toEqual(hashes.sort())
}
