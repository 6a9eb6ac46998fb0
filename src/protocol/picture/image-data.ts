import { createHash, type Hash } from 'node:crypto'
import { ByteReader, type ByteSource } from '../byte-reader.ts'
import type { Format } from '../formats.ts'
import { walkGif } from './gif.ts'
import { walkJpeg } from './jpeg/jpeg.ts'
import { DHT, DQT, DRI, JpegTables, SOS } from './jpeg/tables.ts'
import { FLAWS, isExtra, type Part, type Walk } from './part.ts'
import { CHUNK_HEAD, walkPng } from './png.ts'
import { exifStates } from './tiff-directories.ts'
import { walkWebp } from './webp.ts'

/** What makes a picture look as it does, without its metadata. */
export interface ImageData {
  /** SHA-256 over all that its pixels are made of. */
  sum: Buffer
  facts: ImageFacts
  /** It has nothing that is no image data, so that its delivery does not show whether the host takes such away. */
  bare: boolean
  /** A digest of its pixels, however they are packed. Left out: they were not read. */
  pixels?: string
}

/** What is not in the sum and yet changes the look, or may be lost. Two pictures are the same when these are equal too. */
export interface ImageFacts {
  /** EXIF's number for how the picture is turned. */
  orientation?: number
  /** The digest of its colour profile. */
  icc?: string
  /** How a JPEG's colours are to be read, in Adobe's segment. */
  transform?: number
  /** Bytes behind the picture's end. */
  trailer?: number
}

/** The image data of a picture. Null: it is not whole, or not understood, so that only all its bytes tell whether it is the
 * same as another. Rejects only when the source's `read` does. */
export async function imageData(format: Format, source: ByteSource): Promise<ImageData | null> {
  return (await FOLDS[format]?.(source)) ?? null
}

/** Whether pictures of this format have image data that tell more than all their bytes. */
export function hasImageData(format: Format): boolean {
  return FOLDS[format] !== undefined
}

/** Adds a part to what makes the picture; false: what it means is not understood. */
type Take = (part: Part, data: DataFold) => Promise<unknown>

/** Collects image data over a picture's parts, with a reader of its own, because the walker's has gone on. */
export class DataFold {
  readonly reader: ByteReader
  #icc: Hash | null = null
  readonly facts: ImageFacts = {}
  readonly sum = createHash('sha256')

  constructor(source: ByteSource) {
    this.reader = new ByteReader(source)
  }

  /** Null: pixels or the end are missing, or something is not understood. */
  async over(walk: Walk, take: Take): Promise<ImageData | null> {
    let end = 0
    let bare = true
    for await (const part of walk(new ByteReader(this.reader.source))) {
      const { flaw, role, to, exif, profile } = part
      if (flaw && (FLAWS[flaw.code] === 'missing' || flaw.code === 'no_end')) return null
      if (role === 'stray' || role === 'unwritten') continue
      // The first EXIF block of a picture counts.
      if (exif !== undefined)
        Object.assign(this.facts, { ...(await exifStates(this.reader, exif)), ...this.facts })
      if (profile !== undefined) await this.profile(profile, to)
      if ((await take(part, this)) === false) return null
      bare &&= !isExtra(part)
      end = to
      if (role === 'end') break
    }
    const trailer = this.reader.size - end
    const facts = { ...this.facts, ...(this.#icc && { icc: this.#icc.digest('hex') }), trailer }
    return { sum: this.sum.digest(), facts, bare: bare && trailer === 0 }
  }

  async add(from: number, to: number, into = this.sum): Promise<void> {
    for await (const piece of this.reader.pieces(from, to)) into.update(piece)
  }

  async profile(from: number, to: number): Promise<void> {
    this.#icc ??= createHash('sha256')
    await this.add(from, to, this.#icc)
  }
}

const FOLDS: Partial<Record<Format, (source: ByteSource) => Promise<ImageData | null>>> = {
  jpeg: jpegData,
  png: pngData,
  gif: gifData,
  webp: webpData,
}

/** Bytes before the data of a JPEG's segment: its marker and its length. */
export const SEGMENT_HEAD = 4
/** Where Adobe's segment has the colours' transform. */
const TRANSFORM = 11

/** The image data of a JPEG's first image: its frame, and each scan with the tables in force, however they are grouped. */
function jpegData(source: ByteSource): Promise<ImageData | null> {
  const tables = new JpegTables()
  return new DataFold(source).over(walkJpeg, async ({ name, role, from, to }, data) => {
    const start = from + SEGMENT_HEAD
    if (role === 'image') await data.add(from, to)
    else if (name === 'APP14' && (await data.reader.text(start, 5)) === 'Adobe') {
      const [transform] = (await data.reader.slice(start, to)).subarray(TRANSFORM)
      if (transform !== undefined) data.facts.transform = transform
    } else if (role === 'header') {
      const segment = await data.reader.slice(from, to)
      // The length keeps what stands before and behind apart.
      for (const each of inForce(tables, segment[1] ?? 0, segment.subarray(SEGMENT_HEAD)))
        data.sum.update(Buffer.of(segment[1]!, each.byteLength >> 8, each.byteLength)).update(each)
    }
  })
}

/** What a segment makes of the picture: nothing for tables, and for a scan its tables, and the interval of restarts. A scan
 * without first coefficients (`Ss` > 0) needs no table for DC, and one of those alone none for AC; tables of the same number
 * that were there before change nothing. */
function inForce(tables: JpegTables, code: number, data: Buffer): Buffer[] {
  tables.take(code, data)
  if (code !== SOS) return [DHT, DQT, DRI].some(each => each === code) ? [] : [data]
  const [first, last] = data.subarray(1 + 2 * data[0]!)
  const needed = tables.scan.flatMap(({ dc, ac, table }) => [first === 0 && dc, last !== 0 && ac, table])
  return [
    data,
    ...needed.map(each => each || Buffer.alloc(0)),
    Buffer.of(tables.interval >> 8, tables.interval),
  ]
}

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
    } else if (COLOURS.has(name)) await data.profile(start, end)
    else if (role === 'header') {
      data.sum.update(`${name} ${end - start}`)
      await data.add(start, end)
    } else if (role === 'end')
      data.sum.update(pixels.digest()).update(frames.update(`frame ${frame}`).digest())
  })
}

const COLOURS = new Set(['iCCP', 'gAMA', 'cICP'])

/** The image data of a GIF: all but its version, comments and what programs noted. */
function gifData(source: ByteSource): Promise<ImageData | null> {
  return new DataFold(source).over(walkGif, async ({ name, role, from, to }, data) => {
    if (role !== 'metadata' && role !== 'end') await data.add(from + (NAMES[name] ?? 0), to)
  })
}

/** Bytes of the version, and of the program whose block says how often the picture repeats. */
const NAMES: Readonly<Record<string, number>> = { header: 6, repeats: 14 }

/** The image data of a WebP: its streams of pixels, and of an animation the canvas and how the frames are shown. */
function webpData(source: ByteSource): Promise<ImageData | null> {
  let isOpaque = false
  return new DataFold(source).over(walkWebp, async ({ name, role, from, to }, data) => {
    const start = from + CHUNK_HEAD
    if (name === 'VP8X') {
      isOpaque = ((await data.reader.text(start, 1)).charCodeAt(0) & ALPHA_OR_FRAMES) === 0
      if (!isOpaque) await data.add(start + 4, to)
    } else if (name !== 'RIFF' && (role === 'image' || role === 'header')) {
      // Decoders drop transparency that the header denies, and a rewrite may bring it back.
      const isClear = name === 'VP8L' && (await data.reader.text(start + 4, 1)).charCodeAt(0) & VP8L_ALPHA
      if (isOpaque && (isClear || name === 'ALPH')) return false
      data.sum.update(`${name} ${to - start}`)
      await data.add(start, to)
    }
    return true
  })
}

const ALPHA_OR_FRAMES = 0x12
const VP8L_ALPHA = 0x10
