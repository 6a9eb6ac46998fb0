import { PAGE } from '../byte-reader.ts'
import { flawed, type Walk } from './part.ts'

/** How files begin that are often taken for a picture of ours, or named like one. */
const FOREIGN = {
  AVIF: /^.{4}ftypavi[fs]/s,
  HEIC: /^.{4}ftyp(?:he[iv][cxms]|mif1|msf1)/s,
  // CR2, CR3, RAF, ORF and RW2. Other cameras' pictures begin like any TIFF.
  RAW: /^(?:II\*\0.{4}CR\x02|.{4}ftypcrx |FUJIFILMCCD-RAW|IIR[OS]|MMOR|IIU\0)/s,
  'JPEG 2000': /^(?:\0\0\0\x0cjP {2}\r\n\x87\n|\xffO\xffQ)/,
  'JPEG XL': /^(?:\0\0\0\x0cJXL \r\n\x87\n|\xff\n)/,
  BigTIFF: /^(?:II\+\0|MM\0\+)/,
  cursor: /^\0\0\x02\0(?!\0\0).\0/s,
  gzip: /^\x1f\x8b\x08/,
  PDF: /^%PDF-/,
  // Before the tag may stand a byte order mark, white space, comments and XML's declaration.
  HTML: /^(?:\xef\xbb\xbf)?\s*(?:(?:<\?[^>]*>|<!--(?:(?!-->).)*-->)\s*)*<(?:!doctype\s+html|html|head|body)[\s>]/is,
} as const satisfies Record<string, RegExp>

export type Foreign = keyof typeof FOREIGN

/** So many bytes show what a file is. */
export const BEGINNING = 1024

/** What a file is that is no picture of ours, by its beginning. Null: not known. */
export function foreignKind(start: string): Foreign | null {
  const names = Object.keys(FOREIGN) as Foreign[]
  return names.find(name => FOREIGN[name].test(start)) ?? null
}

/** Bytes of no known format: room that a writer has reserved for a picture, or something else. */
export const walkUnknown: Walk = async function* (reader) {
  const isRoom = (await reader.slice(0, PAGE)).every(byte => byte === 0)
  const role = isRoom ? 'unwritten' : 'stray'
  yield flawed({ role, name: 'file', from: 0, to: reader.size }, isRoom && 'unwritten', 'picture')
}
