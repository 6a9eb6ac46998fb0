import { type ByteSource, sourceOfBytes } from './byte-reader.ts'
import { type FlawCode, flawed, type Walk } from './part.ts'
import { findSvgRoot } from './svg.ts'

/** How files begin that are often taken for a picture of ours, or named like one. */
const FOREIGN = {
  AVIF: /^.{4}ftypavi[fs]/s,
  HEIC: /^.{4}ftyp(?:he[iv][cxms]|mif1|msf1)/s,
  // CR2, CR3, RAF, ORF and RW2. Other cameras' pictures begin like any TIFF.
  RAW: /^(?:II\*\0.{4}CR\x02|.{4}ftypcrx |FUJIFILMCCD-RAW|IIR[OS]|MMOR|IIU\0)/s,
  'JPEG 2000': /^(?:\0\0\0\x0cjP {2}\r\n\x87\n|\xffO\xffQ)/,
  'JPEG XL': /^(?:\0\0\0\x0cJXL \r\n\x87\n|\xff\n)/,
  cursor: /^\0\0\x02\0(?!\0\0).\0/s,
  gzip: /^\x1f\x8b\x08/,
  PDF: /^%PDF-/,
  // Before the tag may stand a byte order mark, white space, comments and XML's declaration.
  HTML: /^(?:\xef\xbb\xbf)?\s*(?:(?:<\?[^>]*>|<!--(?:(?!-->).)*-->)\s*)*<(?:!doctype\s+html|html|head|body)[\s>]/is,
} as const satisfies Record<string, RegExp>

export type Foreign = keyof typeof FOREIGN

/** So many of the first bytes tell what a file is. */
const SIGNED = 1024

/** What a file is that is no picture of ours, by its first bytes, at most 1024. Null: not known. */
export function foreignKind(head: Uint8Array): Foreign | null {
  const start = latin1(head, SIGNED)
  const names = Object.keys(FOREIGN) as Foreign[]
  return names.find(name => FOREIGN[name].test(start)) ?? null
}

/** How pictures begin. A file that has only these few bytes yet becomes a picture when its writer goes on. */
const BEGINNINGS = ['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', 'BM', 'II', 'MM', '\0\0\x01\0']
/** No format's signature is longer than this many bytes. */
const LONGEST = 32
const HEAD = 64 * 1024

/** Bytes of no known format: reserved room, the first bytes of a picture, or something else. */
export const walkUnknown: Walk = async function* ({ source, size }) {
  const code = await flawOf(source)
  const role = code === 'unwritten' ? code : 'stray'
  yield flawed({ role, name: 'file', from: 0, to: size }, code, 'picture')
}

async function flawOf(source: ByteSource): Promise<FlawCode | null> {
  const head = await source.read(0, HEAD)
  const text = head.subarray(0, head.findLastIndex(byte => byte !== 0) + 1)
  if (text.byteLength === 0) return 'unwritten'
  const start = latin1(text, LONGEST)
  const begins = BEGINNINGS.some(each => start.startsWith(each) || each.startsWith(start))
  const isBegun = begins && text.byteLength < LONGEST
  return isBegun || (await findSvgRoot(sourceOfBytes(text), text)) === 'cut' ? 'no_pixels' : null
}

function latin1(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.subarray(0, length)).toString('latin1')
}
