import { disableTypes, imageSize, types } from 'image-size'
import { ByteReader, type ByteSource, type Size } from '../byte-reader.ts'
import { FORMATS, type Format } from '../formats.ts'
import { walkBmp } from './bmp.ts'
import { BEGINNING, type Foreign, foreignKind, walkUnknown } from './foreign.ts'
import { walkGif } from './gif.ts'
import { walkHeic } from './heic.ts'
import { walkIco } from './ico.ts'
import { walkJpeg } from './jpeg/jpeg.ts'
import { isExtra, MOST_PARTS, type Part, type Stated, type Verdict, VerdictFold, type Walk } from './part.ts'
import { walkPng } from './png.ts'
import { findSvgRoot, walkSvg } from './svg.ts'
import { walkTiff } from './tiff.ts'
import { walkWebp } from './webp.ts'

/** A picture's format and dimensions by its bytes: the client declares them (§4.1), the upload node compares them (§4.2). */
export interface Picture {
  format: Format
  /** The MIME type that `format` has in §4.3. */
  mime: string
  /** Pixels as stored, without EXIF's orientation. Both are null when they can't be read or are not stated. */
  width: number | null
  height: number | null
  /** EXIF turns the picture on its side: it is shown as wide as its pixels are high. Only a JPEG's EXIF is read. */
  turned?: true
}

/** What a walk through all of a file shows. */
export interface Inspection {
  /** Null: none of §4.3's formats. */
  picture: Picture | null
  /** What the bytes are when they are no picture of ours. Null: not known. */
  foreign: Foreign | null
  verdict: Verdict
  /** The walk has met nothing but what the pixels need, so that no host takes any of it away. */
  bare: boolean
}

/** How a format begins, and who walks through it. `own`: its dimensions come from its parts, not from image-size, which
 * proved wrong on real and crafted pictures: of a JPEG it misses frames behind 512 KiB of metadata and knows only SOF0 to
 * SOF2, of a TIFF it needs the directory in the first bytes, of a BMP it does not read the header of OS/2. */
interface Kind {
  begins?: RegExp
  walk: Walk
  own?: true
}

/** Each signature takes more than two or three characters, because a text may begin with the same two or three. */
const KINDS: Readonly<Record<Format, Kind>> = {
  png: { begins: /^\x89PNG\r\n\x1a\n.{4}(?:IHDR|CgBI)/s, walk: walkPng },
  gif: { begins: /^GIF8[79]a/, walk: walkGif },
  webp: { begins: /^RIFF.{4}WEBP/s, walk: walkWebp },
  // Without the last part, an ICO without entries would be recognized.
  ico: { begins: /^\0\0\x01\0(?!\0\0)/, walk: walkIco },
  // SVG is text and has no signature.
  svg: { walk: walkSvg },
  // The marker 0xF7 would begin a JPEG-LS, which §4.3 does not list.
  jpeg: { begins: /^\xff\xd8\xff(?!\xf7)/, walk: walkJpeg, own: true },
  tiff: { begins: /^(?:II\*\0|MM\0\*)/, walk: walkTiff, own: true },
  // Byte 14 states the length of the picture header. It is one of eight numbers.
  bmp: { begins: /^BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0{3}/s, walk: walkBmp, own: true },
}
const FORMAT_NAMES = Object.keys(KINDS) as Format[]

/** The first read gets so many bytes, which are enough for nearly every picture. */
const HEAD = 64 * 1024
/** Each further read for a size gets so many bytes, which are enough for a few JPEG segments or a TIFF directory. */
const BLOCK = 4096
/** A JPEG with 60 MB of metadata needs a thousand reads for its size; only a crafted file would need more. */
const MOST_READS = 1024

/** The picture in the source; null: none of §4.3's formats. Rejects only when `source.read` does; memory is bounded. */
export async function readPicture(source: ByteSource): Promise<Picture | null> {
  return (await inspectPicture(source, 'size')).picture
}

/** Walks through the file once, up to the first size that it states or to its end. Rejects only when `source.read` does;
 * memory is bounded. */
export async function inspectPicture(source: ByteSource, until: 'size' | 'end' = 'end'): Promise<Inspection> {
  const head = await source.read(0, HEAD)
  const start = Buffer.from(head.subarray(0, BEGINNING)).toString('latin1')
  const signed = FORMAT_NAMES.find(name => KINDS[name].begins?.test(start))
  const root = signed ? null : await findSvgRoot(source, head)
  const format = signed ?? (root && 'svg')
  const begun = foreignKind(start)
  const { walk, own }: Kind = format ? KINDS[format] : { walk: begun === 'HEIC' ? walkHeic : walkUnknown }
  const limits = until === 'size' ? { block: BLOCK, reads: MOST_READS } : {}
  const parts = own || until === 'end' ? walk(new ByteReader(source, { head, ...limits })) : []
  const { stated, verdict, bare } = await fold(parts, until)
  const foreign = stated.raw ? 'RAW' : begun
  const isOurs = format !== null && foreign === null
  const size = own ? stated : format && readHeaderSize(format, root ?? head)
  return {
    picture: isOurs ? picture(format, size, stated.orientation) : null,
    foreign,
    verdict: verdict.verdict(source.size),
    bare,
  }
}

async function fold(parts: AsyncIterable<Part> | readonly Part[], until: 'size' | 'end') {
  const verdict = new VerdictFold()
  let stated: Stated = {}
  let count = 0
  let [bare, hasEnded] = [true, false]
  for await (const part of parts) {
    if (++count > MOST_PARTS) break
    verdict.take(part)
    bare &&= !hasEnded && !isExtra(part)
    hasEnded ||= part.role === 'end'
    // The first to state something counts: later ones are further pages or smaller copies.
    if (part.states) stated = { ...part.states, ...stated }
    if (until === 'size' && (stated.width !== undefined || part.role === 'image')) break
  }
  return { stated, verdict, bare }
}

/** image-size gets so many bytes. An ICO has 16 for each entry, so 500 fit; other formats state their size in 40. */
const ENOUGH = 8192

/** The formats that image-size may recognize; it takes bytes for others that are not. */
const ALLOWED: ReadonlySet<string> = new Set(FORMAT_NAMES.filter(format => !KINDS[format].own))
disableTypes(types.filter(type => !ALLOWED.has(type)))

/** The size in a picture's first bytes: an ICO's largest entry, a WebP's canvas, a GIF's screen. With `ENOUGH` bytes even
 * crafted ones cost at most some 40 ms. */
function readHeaderSize(format: Format, head: Uint8Array): Size | null {
  // image-size gets a copy, because it reads beyond the end of a view, into memory that Node's small buffers share.
  const own = new Uint8Array(head.subarray(0, ENOUGH))
  try {
    const { type, width, height } = imageSize(own)
    return type === format ? { width, height } : null
  } catch {
    // image-size throws RangeError or TypeError for bytes that it can't read.
    return null
  }
}

/** The largest dimension that PNG and BMP allow. When a header of any format states more, the picture is damaged. */
const LARGEST = 2 ** 31 - 1
/** Orientations from 5 on turn a picture on its side (EXIF 2.32, 4.6.4). */
const ON_SIDE = [5, 6, 7, 8]

/** The picture, without dimensions when the header states some that no picture has: zero, a fraction, or too large. */
function picture(format: Format, size: Partial<Size> | null, orientation = 1): Picture {
  const isPlausible = (pixels?: number) => Number.isInteger(pixels) && pixels! >= 1 && pixels! <= LARGEST
  const { width, height } = size ?? {}
  const of = { format, mime: FORMATS[format].mime }
  if (!isPlausible(width) || !isPlausible(height)) return { ...of, width: null, height: null }
  return { ...of, width: width!, height: height!, ...(ON_SIDE.includes(orientation) && { turned: true }) }
}
