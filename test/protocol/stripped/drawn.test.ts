import sharp, { type Sharp } from 'sharp'
import { describe, expect, test } from 'vitest'
import type { Format } from '../../../src/protocol/formats.ts'
import { chanceOf } from '../jpeg/jpegs.ts'
import { strippedBytes } from './stripping.ts'

const [WIDTH, HEIGHT] = [48, 32]
const GPS = { IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 30/1 0/1' }, IFD0: { Software: 'PLACE-TEXT' } }

function picture(seed = 1): Sharp {
  const chance = chanceOf(seed)
  const pixels = Buffer.from(Array.from({ length: 3 * WIDTH * HEIGHT }, () => chance() & 0xff))
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
}

async function animation(): Promise<Sharp> {
  const frames = await Promise.all([1, 2, 3].map(seed => picture(seed).png().toBuffer()))
  return sharp(frames, { join: { animated: true } })
}

/** As a viewer draws it, with its times. */
async function drawing(file: Buffer) {
  const { data, info } = await sharp(file, { animated: true })
    .autoOrient()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { pages, delay, loop } = await sharp(file, { animated: true }).metadata()
  return { data, info, pages, delay, loop }
}

async function staysDrawn(format: Format, file: Buffer): Promise<void> {
  for (const how of ['location', 'all'] as const) {
    const made = await strippedBytes(format, file, how)
    expect(await drawing(made)).toEqual(await drawing(file))
    expect(made.includes('PLACE-TEXT')).toBe(false)
    expect((await sharp(made).metadata()).exif?.includes(Buffer.from('\x88\x25', 'latin1')) ?? false).toBe(
      false,
    )
  }
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])('turned by %d', orientation => {
  test.each([
    ['jpeg', (of: Sharp) => of.jpeg({ chromaSubsampling: '4:4:4' })],
    ['jpeg', (of: Sharp) => of.jpeg({ progressive: true })],
    ['png', (of: Sharp) => of.png()],
    ['webp', (of: Sharp) => of.webp({ lossless: true })],
    ['tiff', (of: Sharp) => of.tiff({ compression: 'lzw' })],
  ] as const)('a %s is drawn in the same way', async (format, as) => {
    await staysDrawn(format, await as(picture()).withExif(GPS).withMetadata({ orientation }).toBuffer())
  })
})

test.each(['none', 'jpeg', 'deflate', 'packbits', 'lzw'] as const)(
  'a TIFF that is packed by %s is drawn in the same way',
  async compression => {
    const tiff = (tile: boolean) =>
      picture().withExif(GPS).tiff({ compression, tile, tileWidth: 16, tileHeight: 16 })
    for (const tile of [false, true]) await staysDrawn('tiff', await tiff(tile).toBuffer())
  },
)

test('an animated WebP and an animated GIF are drawn in the same way, and a WebP with transparency', async () => {
  await staysDrawn(
    'webp',
    await (await animation())
      .withExif(GPS)
      .webp({ delay: [100, 200, 300], loop: 2 })
      .toBuffer(),
  )
  const gif = await (await animation()).gif({ delay: [100, 200, 300] }).toBuffer()
  const comment = Buffer.from('\x21\xfe\x0aPLACE-TEXT\0', 'latin1')
  const first = gif.indexOf(Buffer.from('\x21\xf9', 'latin1'))
  await staysDrawn('gif', Buffer.concat([gif.subarray(0, first), comment, gif.subarray(first)]))
  await staysDrawn('webp', await picture().ensureAlpha(0.5).withExif(GPS).webp().toBuffer())
})

test('a profile of colours stays', async () => {
  const file = await picture().withIccProfile('p3').withExif(GPS).jpeg().toBuffer()
  const made = await strippedBytes('jpeg', file, 'all')
  expect((await sharp(made).metadata()).icc).toEqual((await sharp(file).metadata()).icc)
})
