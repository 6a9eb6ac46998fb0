import { readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { smallPicture, type Thumbnail, Thumbnails } from '../../src/page/thumbnails.ts'
import { sourceOfBytes } from '../../src/protocol/byte-reader.ts'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'
import { cameraPicture } from './camera-picture.ts'

const SMALL = readFileSync(
  join(import.meta.dirname, '../../src/cli/try/pictures/Holiday/Mountains/Panorama from the summit.jpg'),
)
const MIB = 2 ** 20

const smallOf = (bytes: Uint8Array) => smallPicture(sourceOfBytes(bytes))

const bytesOf = async (thumbnail: Thumbnail) => Buffer.from(await new Response(thumbnail.bytes).arrayBuffer())

it('shows of a large file what its camera has made small, else the file itself', async () => {
  const mirror = tempFolder()
  const thumbnails = new Thumbnails()
  writeFileSync(join(mirror, 'small.jpg'), SMALL)
  writeFileSync(join(mirror, 'large.jpg'), cameraPicture(SMALL, 6, 20 * MIB))
  const screenshot = png(2000, 1500).bytes
  writeFileSync(join(mirror, 'large.png'), screenshot)
  writeFileSync(join(mirror, 'huge.png'), screenshot)
  truncateSync(join(mirror, 'huge.png'), 40 * MIB)
  writeFileSync(join(mirror, 'drawing.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(mirror, 'prose.jpg'), 'prose')
  symlinkSync(join(mirror, 'small.jpg'), join(mirror, 'link.jpg'))
  const small = await thumbnails.read(mirror, 'small.jpg')
  expect(small).toMatchObject({ mime: 'image/jpeg', lasts: true })
  expect(SMALL.equals(await bytesOf(small))).toBe(true)
  const large = await thumbnails.read(mirror, 'large.jpg')
  expect(large).toMatchObject({ mime: 'image/jpeg', lasts: true })
  expect((await bytesOf(large)).length).toBeLessThan(SMALL.length + 100)
  const streamed = await thumbnails.read(mirror, 'large.png')
  expect(streamed).toMatchObject({ mime: 'image/png', lasts: true })
  expect((await bytesOf(streamed)).equals(screenshot)).toBe(true)
  for (const name of ['huge.png', 'drawing.svg', 'prose.jpg', 'link.jpg', 'missing.jpg', '../small.jpg', '.'])
    expect(await thumbnails.read(mirror, name), name).toMatchObject({ mime: 'image/gif', lasts: false })
})

it('takes no thumbnail from an EXIF that is cut off, or that points elsewhere', async () => {
  const whole = cameraPicture(SMALL, 1, 0)
  expect(await smallOf(whole)).not.toBeNull()
  for (let length = 0; length < 200; length++) expect(await smallOf(whole.subarray(0, length))).toBeNull()
  // Each byte of its structure may be any: it answers, and soon.
  for (let at = 2; at < 80; at++)
    for (const value of [0, 1, 0x7f, 0xff]) {
      const odd = Buffer.from(whole)
      odd[at] = value
      expect((await smallOf(odd))?.length ?? 0).toBeLessThan(whole.length + 100)
    }
})
