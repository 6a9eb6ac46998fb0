import { fileTypeFromBuffer } from 'file-type'
import type { Format } from '../formats.ts'
import { hasTiffHeader } from './tiff.ts'

/** The formats that a signature tells; SVG is text. */
export type BinaryFormat = Exclude<Format, 'svg'>

/** What file-type asks for. More would only let it unpack more of archives that are none of our business. */
const SAMPLE = 4100

/** §4.3's formats by the extensions that file-type gives; an animated PNG is a PNG. */
const FORMAT_OF = new Map<string, BinaryFormat>([
  ['png', 'png'],
  ['apng', 'png'],
  ['jpg', 'jpeg'],
  ['gif', 'gif'],
  ['webp', 'webp'],
  ['bmp', 'bmp'],
  ['ico', 'ico'],
])

/** Where file-type looks at two to four bytes, which prose or a binary of another kind may begin with too. */
const STRICTER = new Map<BinaryFormat, RegExp>([
  ['gif', /^GIF8[79]a/],
  // The size of the header at byte 14 is one of eight.
  ['bmp', /^BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0{3}/s],
  // At least one entry.
  ['ico', /^\0\0\x01\0(?!\0\0)/],
])

/** file-type looks behind a byte order mark and an ID3 tag. No picture has either, and no decoder skips them. */
const PREFIXED = /^(?:\xef\xbb\xbf|ID3)/

/**
 * Raw files of cameras that are TIFF in structure. file-type's signs of two others (NEF: 28 entries or 31;
 * ARW: a PrintIM tag) are found in scanners' TIFFs too, and those must not be turned away.
 */
const RAW = new Set(['cr2', 'dng'])

/** The format that a picture's first bytes show; null for SVG and for all that is not of §4.3. */
export async function formatOfBytes(head: Uint8Array): Promise<BinaryFormat | null> {
  const sample = head.subarray(0, SAMPLE)
  const extension = await extensionOf(sample)
  // file-type knows a TIFF only where the sample holds its directory, which most often stands at the end.
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
    // It has all its bytes in memory, so what it throws is about them: they are nothing that it knows.
    return ''
  }
}
