import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { lockState } from '../../../src/synced/lock.ts'
import { localTimeFrom } from '../../../src/words/text.ts'
import { png } from '../../pictures.ts'
import { call, idOf, type Stage, setStage } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes

const withPictures = () => setStage({ pictures: { 'red.png': red, 'a/green.png': png(3, 2, 20).bytes } })

/** Puts a picture that is not ours into the album Photos. */
async function putForeign(stage: Stage): Promise<string> {
  const { data } = await call(stage, 'GET', '/list')
  const { bytes, width, height, mime } = png(9, 9)
  const album_id = data.albums[0].id
  const request = {
    file_name: 'foreign.png',
    file_size: bytes.length,
    mime_type: mime,
    width,
    height,
    album_id,
  }
  const credential = await call(stage, 'POST', '/upload', request)
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bytes)]), 'foreign.png')
  const sent = await fetch(credential.data.upload_url, { method: 'POST', body: form })
  return ((await sent.json()) as { image_id: string }).image_id
}

it('tells people and programs what it finds, and repairs what is ours: exit 3 while something is left', async () => {
  const stage = await withPictures()
  const gone = await idOf(stage, 'Photos/a/green.png')
  await call(stage, 'DELETE', `/delete?img=${gone}`)
  const foreign = await putForeign(stage)
  const told = await stage.here('audit')
  expect(told.code).toBe(3)
  expect(told.out).toMatch(new RegExp(`gone +Photos/a/green\\.png \\(${gone}\\): .*albumd audit --repair`))
  expect(told.out).toMatch(new RegExp(`foreign +Photos/foreign\\.png \\(${foreign}\\): `))
  expect(await stage.listing()).toHaveLength(2)

  const repaired = await stage.here('audit', '--repair', '--json')
  expect(repaired.code).toBe(3)
  expect(JSON.parse(repaired.out)).toMatchObject({
    complete: true,
    albums: 2,
    repaired: 1,
    findings: [
      { kind: 'foreign', album: 'Photos', name: 'foreign.png', image_id: foreign, repaired: false },
      { kind: 'gone', album: 'Photos/a', name: 'green.png', image_id: gone, repaired: true },
    ],
  })
  expect(await stage.paths()).toEqual(['Photos/a/green.png', 'Photos/foreign.png', 'Photos/red.png'])
  await call(stage, 'DELETE', `/delete?img=${foreign}`)
  expect(await stage.here('audit', '--repair')).toMatchObject({ code: 0 })
})

it('lets every view call an image gone that it found gone, until a repair: exit 3', async () => {
  const stage = await withPictures()
  await call(stage, 'DELETE', `/delete?img=${await idOf(stage, 'Photos/a/green.png')}`)
  await stage.here('audit')
  const path = join(stage.pictures, 'a/green.png')
  expect(await stage.status()).toMatchObject({ mirrors: [{ files: 2, synced: 1, gone_on_host: 1 }] })
  const { out } = await stage.here('status')
  expect(out).toContain('1 of 2 pictures on the host, 1 gone from the host\n')
  expect(out).toMatch(/^back {4}to any moment since .*, except 1 image gone from the host: albumd restore /m)
  expect(out).toContain(
    'the image of a/green.png on the host. "albumd audit --repair" uploads the picture again',
  )
  const why = await stage.json('why', path)
  expect(why).toMatchObject({ state: 'gone_on_host', next: [{ command: 'albumd audit --repair' }] })
  const ofFolder = (await stage.here('why', stage.pictures)).out
  expect(ofFolder).toMatch(/^ +holds +2 pictures, 1 gone from the host, 1 on the host$/m)
  expect(ofFolder).toMatch(/^ +next .*: albumd audit --repair$/m)
  expect(await stage.here('url', path)).toMatchObject({ code: 3, out: '' })
  expect(await stage.json('ls', path)).toMatchObject({ pictures: [{ state: 'gone_on_host' }] })
  const put = await stage.here('put', path, '--json')
  expect(put.code).toBe(3)
  expect(JSON.parse(put.out)).toMatchObject({ pictures: [{ cdn_url: null, code: 'GONE_ON_HOST' }] })
  expect((await stage.here('sync', '--dry-run')).out).toContain('albumd audit --repair')
  // The next scan has the bytes compared, and the picture stays as it is.
  utimesSync(path, 1, 1)
  expect((await stage.here('sync', '--dry-run')).out).toContain('albumd audit --repair')
  const synced = await stage.here('sync')
  expect(synced.code).toBe(3)
  expect(synced.out).toContain('left: 1 gone from the host')
  expect(synced.out).toContain('"albumd audit --repair" uploads the picture again')
  expect(await stage.here('sync', join(stage.pictures, 'red.png'))).toMatchObject({ code: 0 })
  expect(await stage.here('sync', path)).toMatchObject({ code: 3 })

  expect(await stage.here('audit', '--repair')).toMatchObject({ code: 0 })
  expect(await stage.status()).toMatchObject({ mirrors: [{ synced: 2, gone_on_host: 0 }] })
  expect(await stage.json('why', path)).toMatchObject({ state: 'synced', next: [] })
  expect(await stage.here('url', path)).toMatchObject({ code: 0 })
  expect(await stage.here('sync')).toMatchObject({ code: 0 })
})

it('tells a picture that is gone here too as lost, and not as repaired', async () => {
  const stage = await withPictures()
  stage.write('moved.png', png(7, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  const { data } = await call(stage, 'GET', '/list')
  await call(stage, 'DELETE', `/delete?album=${data.albums[0].id}`)
  rmSync(join(stage.pictures, 'red.png'))
  renameSync(join(stage.pictures, 'moved.png'), join(stage.pictures, 'a/here.png'))
  const { code, out } = await stage.here('audit', '--repair')
  expect(code).toBe(0)
  expect(out).toMatch(/Photos\/red\.png .*lost: nothing here has its bytes/)
  expect(out).toMatch(/Photos\/moved\.png .*its file is uploaded again/)
  expect(out).toContain('0 findings left, 2 repaired, 1 image lost\n')
  const told = await stage.json('why', 'red.png')
  expect(told.reason).toBe('gone from the disk, and its image from the host before')
  expect(told.history.map(({ event }: { event: string }) => event)).toEqual(['uploaded', 'lost', 'gone'])
})

it('says from when on a repair takes an image that the host may only be late to list', async () => {
  const stage = await withPictures()
  rmSync(join(stage.home, 'state'), { recursive: true })
  await stage.asked('adopt', { verify: false })
  await call(stage, 'DELETE', `/delete?img=${await idOf(stage, 'Photos/a/green.png')}`)
  await putForeign(stage)
  const told = await stage.here('audit', '--repair', '--json')
  const [, gone] = JSON.parse(told.out).findings
  expect(gone).toMatchObject({ kind: 'gone', repaired: false })
  expect(Date.parse(gone.repair_from)).toBeGreaterThan(Date.now())
  const { code, out } = await stage.here('audit', '--repair')
  expect(code).toBe(3)
  expect(out).toContain('2 findings left, 0 repaired')
  expect(out).toContain(`not before ${localTimeFrom(gone.repair_from).slice(0, 10)}`)
  stage.configure({
    host: { base_url: stage.baseUrl, api_key_file: 'api-key', credential_lifetime: '1s' },
  })
  const repaired = async () => (await stage.here('audit', '--repair')).out
  await expect.poll(repaired).toContain('1 finding left, 1 repaired')
})

it('says in one line that a plan without listings has no audit, and that status shows it: exit 3', async () => {
  const stage = await setStage({ pictures: { 'red.png': red }, host: { plansFrom: 'flagship' } })
  const { code, out, err } = await stage.here('audit')
  expect(out).toBe('')
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  expect(err).toContain('PLAN_NOT_SUPPORTED')
  expect(code).toBe(3)
  expect((await stage.status()).blocks).toContainEqual(
    expect.objectContaining({ endpoint: 'list', code: 'PLAN_NOT_SUPPORTED' }),
  )
})

it('exit 5 for a key that the host refuses, 4 beside another albumd, 2 for an option that it does not have', async () => {
  const stage = await withPictures()
  writeFileSync(join(stage.home, 'api-key'), 'wrong-key-abcdef')
  expect(await stage.here('audit')).toMatchObject({
    code: 5,
    err: expect.stringContaining('check host.api_key_file'),
  })
  expect(await stage.here('audit', '--mend')).toMatchObject({ code: 2 })
  const lock = lockState(join(stage.home, 'state/lock.db'))
  onTestFinished(() => lock.release())
  expect(await stage.here('audit')).toMatchObject({ code: 4 })
})

it('counts a picture that waits for its upload as to be uploaded again, and not as repaired', async () => {
  const stage = await setStage({
    pictures: { 'a/red.png': red, 'a/green.png': png(3, 2, 20).bytes },
    host: { dailyQuota: 2 },
  })
  await call(stage, 'DELETE', `/delete?img=${await idOf(stage, 'Photos/a/red.png')}`)
  const { code, out } = await stage.here('audit', '--repair')
  expect(code).toBe(3)
  expect(out).toContain('its file waits to be uploaded again: "albumd status" says for what')
  expect(out).toContain('0 findings left, 0 repaired, 1 to be uploaded again\n')
  const told = async () => (await stage.here('status')).out
  const waits =
    /^audit {3}1 picture gone from the host, and not uploaded again yet\n {8}no other difference at /m
  expect(await told()).toMatch(waits)
  // The next audit finds no image of the picture in the records, and the picture waits all the same.
  await stage.here('audit')
  expect(await told()).toMatch(waits)
  rmSync(join(stage.pictures, 'a/red.png'))
  await stage.here('sync')
  expect(await told()).toMatch(/^audit {3}no difference at /m)
})
