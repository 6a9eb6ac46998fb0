import { disableTypes, imageSize, types } from 'image-size'
import { FORMATS, type Format } from '../formats.ts'
import { ByteReader, type ByteSource, bufferOf, type Size, sourceOfBytes } from './byte-reader.ts'
import { bmpEnding, bmpSize, gifEnding, icoEnding, pngEnding, webpEnding } from './chunks.ts'
import { cut, type Ending, UNCLEAR } from './ending.ts'
import { jpegEnding, readJpegSize, readThumbnail } from './jpeg.ts'
import { findSvgRoot, svgEnding } from './svg.ts'
import { type ExifThumbnail, readTiffSize, tiffEnding } from './tiff.ts'

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

/** The first read gets so many bytes, which are enough for nearly every picture. */
const HEAD = 64 * 1024

/** Each further read gets so many bytes, which are enough for a few JPEG segments or a TIFF directory. */
const BLOCK = 4096

/** A JPEG with 60 MB of metadata needs a thousand reads; only a crafted file would need more. */
const MOST_READS = 1024

/** The picture in the source; null: none of §4.3's formats. Rejects only when `source.read` does; memory is bounded. */
export async function readPicture(source: ByteSource): Promise<Picture | null> {
  const head = await source.read(0, HEAD)
  const start = startOf(head)
  const format = FORMAT_NAMES.find(name => READERS[name].begins?.test(start))
  if (format === undefined) {
    const root = await findSvgRoot(source, head)
    return root === 'cut' || root === null ? null : picture('svg', readHeaderSize('svg', root))
  }
  const reader = new ByteReader(source, { head, block: BLOCK, reads: MOST_READS })
  const { size: readSize } = READERS[format]
  const size = readSize ? await readSize(reader, head) : readHeaderSize(format, head)
  return size === 'raw' ? null : picture(format, size)
}

/** HEIC and AVIF are often named like a JPEG; the brand of their first box shows it. `head`: at least 12 bytes. */
export function foreignFormat(head: Uint8Array): 'HEIC' | 'AVIF' | null {
  const [, brand] = /^.{4}ftyp(.{4})/s.exec(startOf(head)) ?? []
  if (brand === undefined) return null
  if (/^avi[fs]$/.test(brand)) return 'AVIF'
  return /^(?:he[iv][cxms]|mif1|msf1)$/.test(brand) ? 'HEIC' : null
}

/** The small JPEG that a camera has put into a large JPEG's EXIF; null when there is none. `source` must be a JPEG. */
export function readJpegThumbnail(source: ByteSource): Promise<ExifThumbnail | null> {
  return readThumbnail(new ByteReader(source, { block: BLOCK, reads: MOST_READS }))
}

/** How each format begins, how its end is found, and which reader finds its dimensions. A format without `size` leaves its
 * dimensions to image-size, which gets the first bytes. On real and crafted pictures, image-size proved wrong for these
 * formats:
 *
 * | format | because |
 * |---|---|
 * | jpeg | image-size misses frames behind 512 KiB of metadata, and knows only SOF0 to SOF2 |
 * | tiff | image-size needs the directory in the first bytes, and most large files have it at their end |
 * | bmp | image-size does not read the header of OS/2 |
 *
 * Each signature takes more than two or three characters, because a text may begin with the same two or three characters. */
const READERS: Readonly<Record<Format, FormatReader>> = {
  png: { begins: /^\x89PNG\r\n\x1a\n.{4}(?:IHDR|CgBI)/s, ending: pngEnding },
  gif: { begins: /^GIF8[79]a/, ending: gifEnding },
  webp: { begins: /^RIFF.{4}WEBP/s, ending: webpEnding },
  // Without the last part, an ICO without entries would be recognized.
  ico: { begins: /^\0\0\x01\0(?!\0\0)/, ending: icoEnding },
  // SVG is text and has no signature.
  svg: { ending: svgEnding },
  // The marker 0xF7 would begin a JPEG-LS, which §4.3 does not list.
  jpeg: { begins: /^\xff\xd8\xff(?!\xf7)/, ending: jpegEnding, size: readJpegSize },
  tiff: { begins: /^(?:II[*+]\0|MM\0[*+])/, ending: tiffEnding, size: readTiffSize },
  bmp: {
    // Byte 14 states the length of the picture header. It is one of eight numbers.
    begins: /^BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0{3}/s,
    ending: bmpEnding,
    size: async (_, head) => bmpSize(bufferOf(head)),
  },
}
const FORMAT_NAMES = Object.keys(READERS) as Format[]

interface FormatReader {
  begins?: RegExp
  ending: (reader: ByteReader) => Promise<Ending>
  size?: (reader: ByteReader, head: Uint8Array) => Promise<SizeRead | 'raw' | null>
}

type SizeRead = Size & { turned?: boolean }

/** The formats that image-size may recognize; it takes bytes for others that are not. */
const ALLOWED: ReadonlySet<string> = new Set(FORMAT_NAMES.filter(format => !READERS[format].size))
disableTypes(types.filter(type => !ALLOWED.has(type)))

/** image-size gets so many bytes. An ICO has 16 for each entry, so 500 fit; other formats state their size in 40. */
const ENOUGH = 8192

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

/** The picture, without dimensions when the header states some that no picture has: zero, a fraction, or too large. */
function picture(format: Format, size: SizeRead | null): Picture {
  const isPlausible = (pixels: number) => Number.isInteger(pixels) && pixels >= 1 && pixels <= LARGEST
  const { width, height, turned } =
    size && isPlausible(size.width) && isPlausible(size.height) ? size : NO_SIZE
  return { format, mime: FORMATS[format].mime, width, height, ...(turned && { turned }) }
}

const NO_SIZE = { width: null, height: null, turned: false }

/** Whether a picture is complete, by its structure alone: a half-written one is `cut`. `format`: null: no picture. Rejects
 * only when `source.read` does; memory is bounded. */
export async function readEnding(format: Format | null, source: ByteSource): Promise<Ending> {
  return format
    ? READERS[format].ending(new ByteReader(source))
    : noPictureYet(await source.read(0, 64 * 1024))
}

/** How pictures begin. A file that has only these few bytes yet becomes a picture when its writer goes on. */
const BEGINNINGS = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', 'BM', 'II', 'MM', '\0\0\x01\0']
/** No format's signature is longer than this many bytes. */
const SIGNATURE = 32

/** The first bytes as a string with one character for each byte. */
function startOf(head: Uint8Array): string {
  return Buffer.from(head.subarray(0, SIGNATURE)).toString('latin1')
}

/** The ending of bytes of no known format: reserved room, or the first bytes of a picture. */
async function noPictureYet(head: Uint8Array): Promise<Ending> {
  const written = head.findLastIndex(byte => byte !== 0) + 1
  if (written === 0) return cut('it begins with zeros only')
  const start = startOf(head.subarray(0, written))
  const begins = BEGINNINGS.some(text => start.startsWith(text) || text.startsWith(start))
  if (begins && written < SIGNATURE) return cut('all but its first bytes is missing')
  const text = head.subarray(0, written)
  return (await findSvgRoot(sourceOfBytes(text), text)) === 'cut'
    ? cut('its root element is missing')
    : UNCLEAR
}
