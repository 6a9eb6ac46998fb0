import { fileTypeFromBuffer } from 'file-type'
import { FORMATS, type Format, formatOfName } from '../formats.ts'
import { ByteReader, type ByteSource } from './byte-reader.ts'
import { bmpSize } from './chunks.ts'
import { readHeaderSize, type Size } from './header.ts'
import { readJpegSize } from './jpeg.ts'
import { findSvgRoot } from './svg.ts'
import { readTiffSize, TIFF_HEADER } from './tiff.ts'

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

/** The formats that have a signature. SVG is text and has none. */
type BinaryFormat = Exclude<Format, 'svg'>

/**
 * Which reader finds the dimensions of a format, measured on real and crafted pictures:
 *
 * | format | reader | because |
 * |---|---|---|
 * | png, gif, webp, ico, svg | image-size | it reads them right from the first bytes |
 * | jpeg | jpeg.ts | image-size misses frames behind 512 KiB of metadata, and knows only SOF0 to SOF2 |
 * | tiff | tiff.ts | image-size needs the directory in the first bytes, and most large files have it at their end |
 * | bmp | chunks.ts | image-size does not read the header of OS/2 |
 */
async function readSize(format: BinaryFormat, source: ByteSource, head: Uint8Array): Promise<Size | null> {
  const reader = new ByteReader(source, { head, block: BLOCK, reads: MOST_READS })
  switch (format) {
    case 'jpeg':
      return readJpegSize(reader)
    case 'tiff':
      return readTiffSize(reader)
    case 'bmp':
      return bmpSize(Buffer.from(head))
    default:
      return readHeaderSize(format, head)
  }
}

function picture(format: Format, size: Size | null): Picture {
  return { format, mime: FORMATS[format].mime, width: size?.width ?? null, height: size?.height ?? null }
}

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
async function formatOfBytes(head: Uint8Array): Promise<BinaryFormat | null> {
  const sample = head.subarray(0, SAMPLE)
  const start = Buffer.from(sample.subarray(0, 32)).toString('latin1')
  // file-type throws for some bytes of no known format.
  const extension = (await fileTypeFromBuffer(sample).catch(() => null))?.ext ?? ''
  // file-type finds a TIFF only when the sample holds its directory, which most files have at their end.
  if (TIFF_HEADER.test(start)) return RAW.has(extension) ? null : 'tiff'
  // An animated PNG is a PNG.
  const format = extension === 'apng' ? 'png' : formatOfName(`.${extension}`)
  if (format === null || format === 'svg' || format === 'tiff' || PREFIXED.test(start)) return null
  return (STRICTER.get(format)?.test(start) ?? true) ? format : null
}
