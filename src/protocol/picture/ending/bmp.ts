import { readBmpSize } from '../bmp.ts'
import type { ByteReader } from './byte-reader.ts'
import { endingOfLength } from './declared-length.ts'
import { cut, type Ending, UNCLEAR } from './ending.ts'

const FILE_HEADER = 14
const CORE_HEADER = 12
/** The file's header and all of the picture's that is looked at. */
const HEADERS = 54
/** Pixels without compression: BI_RGB, BI_BITFIELDS, BI_ALPHABITFIELDS. */
const PLAIN = new Set([0, 3, 6])

/** A BMP is as long as its header says, and long enough for its pixels where they are not compressed. */
export async function bmpEnding(reader: ByteReader): Promise<Ending> {
  const head = (await reader.bytes(0, HEADERS)) ?? (await reader.bytes(0, FILE_HEADER + CORE_HEADER))
  if (head === null) return cut('its header is missing')
  // Some writers leave the declared length at zero.
  const end = Math.max(head.readUInt32LE(2), endOfPixels(head))
  return end < FILE_HEADER + CORE_HEADER ? UNCLEAR : endingOfLength(reader, end, 'it')
}

/** Zero where that can't be told. Rows are padded to four bytes. */
function endOfPixels(head: Buffer): number {
  const size = readBmpSize(head)
  const core = head.readUInt32LE(FILE_HEADER) === CORE_HEADER
  const plain = core || (head.byteLength >= HEADERS && PLAIN.has(head.readUInt32LE(30)))
  if (size === null || !plain) return 0
  const bitsPerPixel = head.readUInt16LE(core ? 24 : 28)
  const row = 4 * Math.ceil((size.width * bitsPerPixel) / 32)
  return head.readUInt32LE(10) + row * size.height
}
