import { fileTypeFromBuffer } from 'file-type'
import { disableTypes, imageSize, types } from 'image-size'
import { FORMATS, type Format, formatOfName } from '../formats.ts'
import { ByteReader, type ByteSource, type Size, sourceOfBytes } from './byte-reader.ts'
import { bmpEnding, bmpSize, gifEnding, icoEnding, pngEnding, webpEnding } from './chunks.ts'
import { cut, type Ending, UNCLEAR } from './ending.ts'
import { jpegEnding, readJpegSize } from './jpeg.ts'
import { findSvgRoot, svgEnding } from './svg.ts'
import { readTiffSize, TIFF_HEADER, tiffEnding } from './tiff.ts'

/**
 * What a picture is by its bytes. Both sides of the wire need this, so it belongs to the protocol: the client declares a type
 * and dimensions (§4.1), and the upload node compares them with the picture (§4.2).
 */
export interface Picture {
  format: Format
  /** The MIME type that `format` has in §4.3. */
  mime: string
  /** Pixels as stored, without EXIF's orientation. Both are null when they can't be read or are not stated. */
  width: number | null
  height: number | null
  /** EXIF turns the picture on its side: it is shown as wide as it is stored high. Only a JPEG's EXIF is read. */
  turned?: true
}

/** Bytes of the first read, which is enough for nearly every picture. */
const HEAD = 64 * 1024

/** Bytes of one read after the first: enough for a few JPEG segments or a TIFF directory. */
const BLOCK = 4096

/** A JPEG with 60 MB of metadata needs a thousand reads. More reads happen only in files that are crafted to take long. */
const MOST_READS = 1024

/**
 * The picture that the source holds, or null when its bytes are none of §4.3's formats. No content makes it throw. It rejects
 * with what `source.read` rejects with. Memory does not grow with the picture's size.
 */
export async function readPicture(source: ByteSource): Promise<Picture | null> {
  const head = await source.read(0, HEAD)
  const format = await formatOfBytes(head)
  if (format) return picture(format, await readSize(format, source, head))
  const root = await findSvgRoot(source, head)
  return root === 'cut' || root === null ? null : picture('svg', readHeaderSize('svg', root))
}

/**
 * How the end of a format is found, and which reader finds its dimensions, measured on real and crafted pictures. Without
 * `size` image-size reads them, from the first bytes. It reads these formats wrong:
 *
 * | format | because |
 * |---|---|
 * | jpeg | image-size misses frames behind 512 KiB of metadata, and knows only SOF0 to SOF2 |
 * | tiff | image-size needs the directory in the first bytes, and most large files have it at their end |
 * | bmp | image-size does not read the header of OS/2 |
 */
const READERS: Readonly<Record<Format, FormatReader>> = {
  png: { ending: pngEnding },
  gif: { ending: gifEnding },
  webp: { ending: webpEnding },
  ico: { ending: icoEnding },
  svg: { ending: svgEnding },
  jpeg: { ending: jpegEnding, size: readJpegSize },
  tiff: { ending: tiffEnding, size: readTiffSize },
  bmp: { ending: bmpEnding, size: async (_, head) => bmpSize(Buffer.from(head)) },
}

interface FormatReader {
  ending: (reader: ByteReader) => Promise<Ending>
  size?: (reader: ByteReader, head: Uint8Array) => Promise<SizeRead | null>
}

type SizeRead = Size & { turned?: boolean }

async function readSize(format: Format, source: ByteSource, head: Uint8Array): Promise<SizeRead | null> {
  const reader = new ByteReader(source, { head, block: BLOCK, reads: MOST_READS })
  const { size } = READERS[format]
  return size ? size(reader, head) : readHeaderSize(format, head)
}

/** image-size looks for these formats alone: for all others it has false positives. */
const ALLOWED: ReadonlySet<string> = new Set(
  Object.keys(READERS).filter(format => !READERS[format as Format].size),
)
disableTypes(types.filter(type => !ALLOWED.has(type)))

/** Bytes that image-size gets. A size is in the first 40 bytes. An ICO has 16 bytes for each entry, so this holds 500. */
const ENOUGH = 8192

/**
 * The size that a picture's first bytes state. The largest entry of an ICO counts, because people see this one. A WebP's size
 * is its canvas, a GIF's its screen. image-size reads at most `ENOUGH` bytes, so it always ends: crafted input costs it some
 * 40 milliseconds at most.
 */
function readHeaderSize(format: Format, head: Uint8Array): Size | null {
  // A copy, because image-size reads beyond the end of a view, into memory that Node's small buffers share.
  const own = new Uint8Array(head.subarray(0, ENOUGH))
  try {
    const { type, width, height } = imageSize(own)
    return type === format ? { width, height } : null
  } catch {
    // image-size throws RangeError or TypeError for bytes that it can't read.
    return null
  }
}

/** The largest dimension of PNG and BMP. A header of any format that states more is damaged. */
const LARGEST = 2 ** 31 - 1

/** Without its size when a header states dimensions that no picture has: zero, a fraction, or too large. */
function picture(format: Format, size: SizeRead | null): Picture {
  const isPlausible = (pixels: number) => Number.isInteger(pixels) && pixels >= 1 && pixels <= LARGEST
  const { width, height, turned } =
    size && isPlausible(size.width) && isPlausible(size.height) ? size : NO_SIZE
  return { format, mime: FORMATS[format].mime, width, height, ...(turned && { turned }) }
}

const NO_SIZE = { width: null, height: null, turned: false }

/** Bytes that file-type needs. With more bytes it would only unpack more of archives. */
const SAMPLE = 4100

/** Stricter signatures for formats of which file-type looks at two to four bytes. A text may begin with these bytes, too. */
const STRICTER = new Map<Format, RegExp>([
  ['gif', /^GIF8[79]a/],
  // The header's size at byte 14 is one of eight numbers.
  ['bmp', /^BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0{3}/s],
  // At least one entry.
  ['ico', /^\0\0\x01\0(?!\0\0)/],
])

/** file-type skips a byte order mark and an ID3 tag. Picture decoders do not, so such a file is no picture. */
const PREFIXED = /^(?:\xef\xbb\xbf|ID3)/

/**
 * Raw files of cameras that have the structure of a TIFF and are no TIFF. file-type also knows NEF and ARW, but by marks that
 * scanners' TIFFs have too, so those two are not refused.
 */
const RAW = new Set(['cr2', 'dng'])

/** The format that a picture's first bytes show; null for SVG and for all formats that §4.3 does not list. */
async function formatOfBytes(head: Uint8Array): Promise<Format | null> {
  const sample = head.subarray(0, SAMPLE)
  const start = Buffer.from(sample.subarray(0, SIGNATURE)).toString('latin1')
  // file-type throws for some bytes of no known format.
  const extension = (await fileTypeFromBuffer(sample).catch(() => null))?.ext ?? ''
  // file-type finds a TIFF only when the sample holds its directory, which most files have at their end.
  if (TIFF_HEADER.test(start)) return RAW.has(extension) ? null : 'tiff'
  // An animated PNG is a PNG.
  const format = extension === 'apng' ? 'png' : formatOfName(`.${extension}`)
  if (format === null || format === 'svg' || format === 'tiff' || PREFIXED.test(start)) return null
  return (STRICTER.get(format)?.test(start) ?? true) ? format : null
}

/**
 * Whether a picture is complete, by its structure. A file that is still being written is `cut`, however long its writer
 * pauses. Pixels are not decoded. `format`: the format of the bytes; null: they are no picture. No content makes it throw.
 * It rejects when `source.read` rejects. Memory does not grow with the picture's size.
 */
export async function readEnding(format: Format | null, source: ByteSource): Promise<Ending> {
  return format
    ? READERS[format].ending(new ByteReader(source))
    : noPictureYet(await source.read(0, 64 * 1024))
}

/** The first bytes of pictures, to recognize a file that holds only these bytes yet. */
const BEGINNINGS = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', 'BM', 'II', 'MM', '\0\0\x01\0']
const SIGNATURE = 32

/** The ending of bytes in which no format shows: reserved room that is not written yet, or the first bytes of a picture. */
async function noPictureYet(head: Uint8Array): Promise<Ending> {
  const written = head.findLastIndex(byte => byte !== 0) + 1
  if (written === 0) return cut('it begins with zeros only')
  const start = Buffer.from(head.subarray(0, Math.min(written, SIGNATURE))).toString('latin1')
  const begins = BEGINNINGS.some(text => start.startsWith(text) || text.startsWith(start))
  if (begins && written < SIGNATURE) return cut('all but its first bytes is missing')
  const text = head.subarray(0, written)
  return (await findSvgRoot(sourceOfBytes(text), text)) === 'cut'
    ? cut('its root element is missing')
    : UNCLEAR
}
