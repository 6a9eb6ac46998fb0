import { createHash } from 'node:crypto'
import type { Format } from '../formats.ts'
import type { ByteSource } from './byte-reader.ts'
import { DataFold, type ImageData } from './data-fold.ts'
import { walkGif } from './gif.ts'
import { jpegData } from './jpeg/data.ts'
import { walkPng } from './png.ts'
import { walkWebp } from './webp.ts'

/** The image data of a picture. Null: it is not whole, or not understood, so that only all its bytes tell whether it is the
 * same as another. Rejects only when the source's `read` does. */
export async function imageData(format: Format, source: ByteSource): Promise<ImageData | null> {
  return (await FOLDS[format]?.(source)) ?? null
}

const FOLDS: Partial<Record<Format, (source: ByteSource) => Promise<ImageData | null>>> = {
  jpeg: jpegData,
  png: pngData,
  gif: gifData,
  webp: webpData,
}

/** Bytes of a chunk before its data, in PNG and WebP. */
const CHUNK_HEAD = 8
const PNG_FOOT = 4

/** The image data of a PNG: its header, palette and transparency, and the streams of its pixels, however they are split. */
function pngData(source: ByteSource): Promise<ImageData | null> {
  const pixels = createHash('sha256')
  const frames = createHash('sha256')
  let frame = 0
  return new DataFold(source).over(walkPng, async ({ name, role, from, to }, data) => {
    const [start, end] = [from + CHUNK_HEAD, to - PNG_FOOT]
    if (name === 'IDAT') await data.add(start, end, pixels)
    else if (name === 'fcTL' || name === 'fdAT') {
      // Both begin with a number that counts them, which depends on how the pixels are split.
      if (name === 'fcTL') frames.update(`frame ${frame}`)
      frame = name === 'fcTL' ? 0 : frame + end - start - 4
      await data.add(start + 4, end, frames)
    } else if (name === 'eXIf') await data.exif(start)
    else if (COLOURS.has(name)) await data.profile(start, end)
    else if (role === 'header') {
      data.sum.update(`${name} ${end - start}`)
      await data.add(start, end)
    } else if (role === 'end')
      data.sum.update(pixels.digest()).update(frames.update(`frame ${frame}`).digest())
  })
}

const COLOURS = new Set(['iCCP', 'gAMA', 'cICP'])

/** The image data of a GIF: all but its version, comments and what programs noted, save how often it repeats. */
function gifData(source: ByteSource): Promise<ImageData | null> {
  return new DataFold(source).over(walkGif, async ({ name, role, from, to }, data) => {
    if (role === 'metadata') {
      const application = await data.text(from + 3, 11)
      if (REPEATS.test(application)) await data.add(from + 14, to)
      if (application === 'ICCRGBG1012') await data.profile(from + 14, to)
    } else if (role !== 'end') await data.add(name === 'header' ? 6 : from, to)
  })
}

const REPEATS = /^(?:NETSCAPE2\.0|ANIMEXTS1\.0)$/

/** The image data of a WebP: its streams of pixels, and of an animation the canvas and how the frames are shown. */
function webpData(source: ByteSource): Promise<ImageData | null> {
  let isOpaque = false
  return new DataFold(source).over(walkWebp, async ({ name, role, from, to }, data) => {
    const start = from + CHUNK_HEAD
    if (name === 'VP8X') {
      isOpaque = ((await data.text(start, 1)).charCodeAt(0) & ALPHA_OR_FRAMES) === 0
      if (!isOpaque) await data.add(start + 4, to)
    } else if (name === 'EXIF') await data.exif(start)
    else if (name === 'ICCP') await data.profile(start, to)
    else if (name !== 'RIFF' && (role === 'image' || role === 'header')) {
      // Decoders drop transparency that the header denies, and a rewrite may bring it back.
      const isClear = name === 'VP8L' && (await data.text(start + 4, 1)).charCodeAt(0) & VP8L_ALPHA
      if (isOpaque && (isClear || name === 'ALPH')) return false
      data.sum.update(`${name} ${to - start}`)
      await data.add(start, to)
    }
    return true
  })
}

const ALPHA_OR_FRAMES = 0x12
const VP8L_ALPHA = 0x10
