import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import { ThumbnailCache } from '../../src/page/thumbnail-cache.ts'
import { makeThumbnail } from '../../src/page/thumbnail-maker.ts'
import { Thumbnails } from '../../src/page/thumbnails.ts'
import { tempFolder } from '../temp-folder.ts'

const SAMPLES = join(import.meta.dirname, '../../src/cli/try/pictures')
const MAKER = join(import.meta.dirname, '../../src/page/thumbnail-maker.ts')

function setThumbnails() {
  const config = { state_dir: tempFolder() } as Config
  const thumbnails = new Thumbnails(() => 0)
  onTestFinished(() => thumbnails.close())
  const made = (mirror: string, path: string) => thumbnails.read(config, { mirror, path }, 100_000)
  return { made, thumbnails, kept: () => readdirSync(join(config.state_dir, 'thumbnails')) }
}

it('makes a small picture of each format, keeps it, and sends an icon as it is', async () => {
  const { made, thumbnails, kept } = setThumbnails()
  const paths = (readdirSync(SAMPLES, { recursive: true }) as string[]).filter(path => /\.\w+$/.test(path))
  const types = new Map<string, string | undefined>()
  for (const path of paths) {
    const { mime, bytes } = (await made(SAMPLES, path)) ?? {}
    types.set(path.replace(/.*\./, '').toLowerCase(), mime)
    if (mime === 'image/webp') expect(bytes!.length).toBeLessThan(10_000)
  }
  expect(Object.fromEntries(types)).toEqual({
    ...Object.fromEntries(
      ['jpg', 'jpeg', 'png', 'gif', 'webp', 'tif', 'tiff', 'svg'].map(each => [each, 'image/webp']),
    ),
    bmp: 'image/bmp',
    ico: 'image/x-icon',
    txt: undefined,
  })
  expect(kept()).toHaveLength(paths.length - 1)
  // Its process is started again when it is needed.
  thumbnails.close()
  const mirror = tempFolder()
  writeFileSync(join(mirror, 'again.svg'), readFileSync(join(SAMPLES, 'Icons/Kite.svg')))
  expect(await made(mirror, 'again.svg')).toMatchObject({ mime: 'image/webp' })
})

it('shows nothing of what is no picture, too large, elsewhere, or gone', async () => {
  const { made } = setThumbnails()
  const mirror = tempFolder()
  writeFileSync(join(mirror, 'prose.jpg'), 'prose')
  writeFileSync(join(mirror, 'huge.png'), '')
  truncateSync(join(mirror, 'huge.png'), 2 ** 36)
  mkdirSync(join(mirror, 'folder.png'))
  symlinkSync(join(SAMPLES, 'Icons/Kite.svg'), join(mirror, 'link.svg'))
  for (const path of ['prose.jpg', 'huge.png', 'folder.png', 'link.svg', 'missing.jpg', '../a.jpg', '.'])
    expect(await made(mirror, path), path).toBeNull()
})

it('turns a thumbnail as the picture is, and shows one that is cut off', async () => {
  // Dark to the left; by EXIF its left side is the upper one.
  const black = { create: { width: 300, height: 300, channels: 3, background: '#000' } } as const
  const turned = await sharp({ create: { ...black.create, width: 600, background: '#fff' } })
    .composite([{ input: await sharp(black).png().toBuffer(), left: 0, top: 0 }])
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  const brightness = async (bytes: Uint8Array, top: number) => {
    const part = sharp(bytes).extract({ left: 0, top, width: 240, height: 10 })
    return (await sharp(await part.png().toBuffer()).stats()).channels[0]!.mean
  }
  const small = (await makeThumbnail({ bytes: turned }))!
  expect(await brightness(small, 0)).toBeLessThan(20)
  expect(await brightness(small, 230)).toBeGreaterThan(235)
  expect(await makeThumbnail({ bytes: turned.subarray(0, turned.length / 2) })).not.toBeNull()
})

it('decodes no picture of more pixels than memory has room for', async () => {
  const svg = (side: number) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}"/>`)
  expect(await makeThumbnail({ bytes: svg(9000) })).not.toBeNull()
  expect(await makeThumbnail({ bytes: svg(11_000) })).toBeNull()
})

it('shows small pictures as they are where the library is missing', () => {
  const hook = `import { registerHooks } from 'node:module'
registerHooks({ resolve(name, context, next) { if (name === 'sharp') throw new Error('missing'); return next(name, context) } })`
  const code = `const { makeThumbnail } = await import(${JSON.stringify(MAKER)})
for (const path of ['Icons/Kite.svg', 'Screenshots/Terminal (copy).PNG'])
  console.log((await makeThumbnail({ mirror: ${JSON.stringify(SAMPLES)}, path }))?.length ?? null)`
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`
  const said = execFileSync(process.execPath, ['--import', preload, '--input-type=module', '-e', code])
  const { length } = readFileSync(join(SAMPLES, 'Screenshots/Terminal (copy).PNG'))
  expect(String(said)).toBe(`null\n${length}\n`)
})

it('keeps within its size what was looked at last', () => {
  const folder = join(tempFolder(), 'thumbnails')
  const cache = new ThumbnailCache(1000)
  for (let n = 0; n < 9; n++) {
    cache.put(folder, `${n}`, Buffer.alloc(100, n))
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), n, n)
  }
  expect(cache.get(folder, '0')).toEqual(Buffer.alloc(100, 0))
  for (const n of [9, 10]) cache.put(folder, `${n}`, Buffer.alloc(100, n))
  expect(readdirSync(folder).length).toBeLessThan(9)
  expect(cache.get(folder, '0')).toEqual(Buffer.alloc(100, 0))
  expect(cache.get(folder, '10')).toEqual(Buffer.alloc(100, 10))
  // Another process has made room, or the folder is gone: it begins anew.
  expect(new ThumbnailCache(1000).get(join(folder, 'missing'), '0')).toBeNull()
})
