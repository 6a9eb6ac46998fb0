import { fileTypeFromBuffer } from 'file-type'
import type { Format } from '../formats.ts'
import { hasTiffHeader } from './tiff.ts'

/** The formats that have a signature. SVG is text and has none. */
export type BinaryFormat = Exclude<Format, 'svg'>

/** Bytes that file-type needs. With more bytes it would only unpack more of archives. */
const SAMPLE = 4100

/** §4.3's formats by file-type's extensions. An animated PNG is a PNG. */
const FORMAT_OF = new Map<string, BinaryFormat>([
  ['png', 'png'],
  ['apng', 'png'],
  ['jpg', 'jpeg'],
  ['gif', 'gif'],
  ['webp', 'webp'],
  ['bmp', 'bmp'],
  ['ico', 'ico'],
])

/** Stricter signatures for formats of which file-type looks at two to four bytes. A text may begin with these bytes, too. */
const STRICTER = new Map<BinaryFormat, RegExp>([
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
export async function formatOfBytes(head: Uint8Array): Promise<BinaryFormat | null> {
  const sample = head.subarray(0, SAMPLE)
  const extension = await extensionOf(sample)
  // file-type finds a TIFF only when the sample holds its directory, which most files have at their end.
  if (hasTiffHeader(sample)) return RAW.has(extension) ? null : 'tiff'
  const format = FORMAT_OF.get(extension)
  const start = Buffer.from(sample.subarray(0, 32)).toString('latin1')
  if (format === undefined || PREFIXED.test(start)) return null
  return (STRICTER.get(format)?.test(start) ?? true) ? format : null
}

async function extensionOf(sample: Uint8Array): Promise<string> {
  try {
    return (await fileTypeFromBuffer(sample))?.ext ?? ''
  } catch {
    // file-type throws for some bytes of no known format.
    return ''
  }
}
