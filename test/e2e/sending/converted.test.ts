import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { BLUE, coded, exif, grid, HALVES, heic, nclx, RED } from '../../protocol/heics.ts'
import { BIG, cameraTags, PLACES, TAKEN, tiffOf } from '../../protocol/stripped/samples.ts'
import { startAlbumd } from '../stage/process.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'

const CONVERT = { uploads: { convert: ['heic'] }, deletions: { grace: '0' } }

const red = (author = 'Ada') => heic([coded(RED), exif(tiffOf(BIG, { ...cameraTags(6), 37510: author }), 1)])
const blue = heic([coded(BLUE)])

/** The bytes of each image on the host. */
async function onHost({ delivered, home }: Stage): Promise<Record<string, Buffer>> {
  const files = readdirSync(join(home, 'host'), { recursive: true, withFileTypes: true })
  const bytes = files
    .filter(file => file.isFile())
    .map(file => readFileSync(join(file.parentPath, file.name)))
  const hashes = Object.entries(await delivered())
  return Object.fromEntries(hashes.map(([path, hash]) => [path, bytes.find(each => sha256(each) === hash)!]))
}

it('a HEIC is sent as JPEG; what changes its file alone sends nothing, and what changes the picture does', async () => {
  const stage = await setStage({ config: CONVERT })
  stage.write('IMG_1.heic', red())
  stage.write('IMG_2.HEIF', blue)
  stage.write('b.png', png(3, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 3 })
  const images = await onHost(stage)
  expect(Object.keys(images).sort()).toEqual([
    'Photos/IMG_1.heic.jpg',
    'Photos/IMG_2.HEIF.jpg',
    'Photos/b.png',
  ])
  const jpeg = images['Photos/IMG_1.heic.jpg']!
  expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 64, height: 64 })
  for (const text of TAKEN) expect(jpeg.includes(text), text).toBe(true)
  for (const text of PLACES) expect(jpeg.includes(text), text).toBe(false)

  const before = await stage.listing()
  stage.write('IMG_1.heic', red('Grace'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.listing()).toEqual(before)

  stage.write('IMG_2.HEIF', heic([coded(HALVES)]))
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 1 })
  renameSync(join(stage.pictures, 'IMG_1.heic'), join(stage.pictures, 'IMG_3.heic'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 1 })
  expect(await stage.paths()).toEqual(['Photos/IMG_2.HEIF.jpg', 'Photos/IMG_3.heic.jpg', 'Photos/b.png'])
  rmSync(join(stage.pictures, 'IMG_3.heic'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.paths()).toEqual(['Photos/IMG_2.HEIF.jpg', 'Photos/b.png'])
})

it('decides by bytes what a file is', async () => {
  const stage = await setStage({ config: CONVERT })
  stage.write('heic.jpg', red())
  stage.write('png.heic', png(3, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 2 })
  const images = await onHost(stage)
  expect((await sharp(images['Photos/heic.jpg']).metadata()).format).toBe('jpeg')
  expect(images['Photos/png.heic.jpg']).toEqual(png(3, 2).bytes)
})

it('what is no whole picture, or one that a JPEG can not show, fails with its reason', async () => {
  const stage = await setStage({ config: { ...CONVERT, watch: { settle: '100ms', incomplete_after: '1s' } } })
  stage.write('hdr.heic', heic([coded(RED, nclx(9, 16))]))
  stage.write('cut.heic', red().subarray(0, -30))
  stage.write('avif.heic', Buffer.from('\0\0\0\x14ftypavif\0\0\0\0mif1', 'latin1'))
  await stage.pass()
  await new Promise(resolve => setTimeout(resolve, 1100))
  await stage.pass()
  const { failures } = await stage.status()
  const codes = Object.fromEntries(
    failures.map(({ path, code }: { path: string; code: string }) => [path, code]),
  )
  expect(codes).toEqual({
    'avif.heic': 'NOT_A_PICTURE',
    'cut.heic': 'PICTURE_INCOMPLETE',
    'hdr.heic': 'NOT_CONVERTED',
  })
  expect(await stage.listing()).toEqual([])
})

it('sends nothing again after a lost state, nor what a restore has written', async () => {
  const stage = await setStage({ config: CONVERT })
  stage.write('IMG_1.heic', red())
  stage.write('IMG_2.heic', blue)
  await stage.pass()
  const before = await stage.listing()
  rmSync(join(stage.home, 'state'), { recursive: true })
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.listing()).toEqual(before)

  const back = join(stage.home, 'back')
  const restored = await stage.here('restore', back, '--config', stage.config, '--json')
  expect(JSON.parse(restored.out)).toMatchObject({ restored: 2, encoded: 2, stripped: 0, missing: 0 })
  expect(restored.code).toBe(3)
  expect(readdirSync(back).sort()).toEqual(['IMG_1.heic.jpg', 'IMG_2.heic.jpg'])
  for (const name of readdirSync(back))
    expect(sha256(readFileSync(join(back, name)))).toBe((await stage.delivered())[`Photos/${name}`])

  rmSync(join(stage.pictures, 'IMG_1.heic'))
  copyFileSync(join(back, 'IMG_1.heic.jpg'), join(stage.pictures, 'IMG_1.heic.jpg'))
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.listing()).toEqual(before)
  rmSync(join(stage.pictures, 'IMG_2.heic'))
  const there = await stage.here('restore', stage.pictures, '--at', '0s', '--config', stage.config)
  expect(there.code).toBe(3)
  expect(readdirSync(stage.pictures).sort()).toEqual(['IMG_1.heic.jpg', 'IMG_2.heic.jpg'])
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.listing()).toEqual(before)
})

it('the setting off leaves HEICs out, and keeps the images of those that were sent', async () => {
  const stage = await setStage({ pictures: { 'b.png': png(3, 2).bytes } })
  stage.write('IMG_1.heic', red())
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect((await stage.status()).mirrors).toMatchObject([{ files: 1, left_out: { format: 1 } }])
  stage.configure(CONVERT)
  expect(await stage.pass()).toMatchObject({ uploaded: 1 })
  const before = await stage.listing()
  stage.configure({ deletions: { grace: '0' } })
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect((await stage.status()).mirrors).toMatchObject([{ left_out: { format: 1 } }])
  stage.configure(CONVERT)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.listing()).toEqual(before)
})

it('of two files with one name on the host only one is sent', async () => {
  const stage = await setStage({ config: CONVERT })
  stage.write('IMG_1.heic', red())
  stage.write('IMG_1.heic.jpg', await sharp(png(3, 2).bytes).jpeg().toBuffer())
  stage.write('IMG_2.heic', blue)
  await stage.pass()
  expect(await stage.paths()).toEqual(['Photos/IMG_1.heic.jpg', 'Photos/IMG_2.heic.jpg'])
  expect((await stage.delivered())['Photos/IMG_1.heic.jpg']).toBe(
    sha256(readFileSync(join(stage.pictures, 'IMG_1.heic.jpg'))),
  )
  stage.write('IMG_2.heic.jpg', await sharp(png(40, 30).bytes).jpeg().toBuffer())
  const before = await stage.listing()
  await stage.pass()
  expect(await stage.listing()).toEqual(before)
  rmSync(join(stage.pictures, 'IMG_1.heic.jpg'))
  await stage.pass()
  await stage.pass()
  expect((await stage.paths()).filter(path => path === 'Photos/IMG_1.heic.jpg')).toHaveLength(1)
})

it('a kill while a HEIC is converted sends it once', async () => {
  const stage = await setStage({ config: CONVERT })
  const tiles = Array.from({ length: 16 }, (_, at) => at + 1)
  stage.write('large.heic', heic([...tiles.map(() => coded(RED)), grid(16 * 64, 64, tiles)], { primary: 17 }))
  const process = startAlbumd(stage, ['sync'])
  const children = `/proc/${process.pid}/task/${process.pid}/children`
  await expect.poll(() => readFileSync(children, 'utf8'), { interval: 5, timeout: 20_000 }).not.toBe('')
  process.kill('SIGKILL')
  expect(await process.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(await stage.listing()).toEqual([])
  const again = await stage.sync()
  expect(again.code, again.out + again.err).toBe(0)
  expect(await stage.paths()).toEqual(['Photos/large.heic.jpg'])
  expect(readdirSync(join(stage.home, 'state'))).not.toContain('converted.jpg')
})
