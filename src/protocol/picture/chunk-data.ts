import { createHash, type Hash } from 'node:crypto'
import { ByteReader, type ByteSource } from './byte-reader.ts'
import { walkGif } from './gif.ts'
import type { ImageData, ImageFacts } from './image-facts.ts'
import { FLAWS, type Part, type Walk } from './part.ts'
import { walkPng } from './png.ts'
import { HEADER, Tiff } from './tiff-directories.ts'
import { walkWebp } from './webp.ts'

const ORIENTATION = 274
const EXIF = 'Exif\0\0'
/** Bytes of a chunk before its data, in PNG and WebP. */
const CHUNK_HEAD = 8
const PNG_FOOT = 4

/** Adds a part to what makes the picture; false: what it means is not understood. */
type Take = (part: Part, data: DataFold) => Promise<unknown>

/** The image data of a PNG: its header, palette and transparency, and the streams of its pixels, however they are split. */
export function pngData(source: ByteSource): Promise<ImageData | null> {
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
export function gifData(source: ByteSource): Promise<ImageData | null> {
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
export function webpData(source: ByteSource): Promise<ImageData | null> {
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

/** Collects image data over a picture's parts, with a reader of its own, because the walker's has gone on. */
class DataFold {
  readonly #source: ByteSource
  readonly #reader: ByteReader
  readonly #facts: ImageFacts = {}
  #icc: Hash | null = null
  readonly sum = createHash('sha256')

  constructor(source: ByteSource) {
    this.#source = source
    this.#reader = new ByteReader(source)
  }

  /** Null: pixels or the end are missing, or something is not understood. */
  async over(walk: Walk, take: Take): Promise<ImageData | null> {
    let end = 0
    for await (const part of walk(new ByteReader(this.#source))) {
      const { flaw, role, name, to } = part
      if (flaw && (FLAWS[flaw.code] === 'missing' || flaw.code === 'no_end')) return null
      if (name === 'rest' || role === 'stray') continue
      if ((await take(part, this)) === false) return null
      end = to
    }
    const icc = this.#icc?.digest('hex')
    const facts = { ...this.#facts, ...(icc !== undefined && { icc }), trailer: this.#source.size - end }
    return { sum: this.sum.digest(), facts }
  }

  async add(from: number, to: number, into = this.sum): Promise<void> {
    for await (const piece of this.#reader.pieces(from, to)) into.update(piece)
  }

  async text(from: number, length: number): Promise<string> {
    return (await this.#reader.bytes(from, length))?.toString('latin1', 0, length) ?? ''
  }

  async profile(from: number, to: number): Promise<void> {
    this.#icc ??= createHash('sha256')
    await this.add(from, to, this.#icc)
  }

  /** The first EXIF block of a picture counts. Some writers put the name in front that it has in a JPEG. */
  async exif(from: number): Promise<void> {
    const start = (await this.text(from, EXIF.length)) === EXIF ? from + EXIF.length : from
    const header = await this.#reader.bytes(start, HEADER)
    const found = header && (await new Tiff(this.#reader, header, start).numbers([ORIENTATION]))
    const orientation = found?.get(ORIENTATION)
    if (orientation !== undefined) this.#facts.orientation ??= orientation
  }
}
