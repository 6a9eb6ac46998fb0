import type { ByteReader } from './byte-reader.ts'
import { BLANK, broken, cut, type Ending, endingAt } from './ending.ts'

const SIGNATURE_LENGTH = 8
/** Of a chunk: its length and its type before its data, its checksum behind. */
const AROUND_DATA = 12
const IEND_CHECK = 0xae426082
const LONGEST = 2 ** 31 - 1
/** Chunks whose data are compressed pixels. */
const PIXELS = new Set(['IDAT', 'fdAT'])

/** A PNG ends with its chunk IEND. */
export async function pngEnding(reader: ByteReader): Promise<Ending> {
  let blank = false
  for (let offset = SIGNATURE_LENGTH; ; ) {
    const head = reader.held(offset, 8) ?? (await reader.bytes(offset, 8))
    if (head === null) return cut('its last chunk, IEND, is missing')
    const length = head.readUInt32BE(0)
    if (length > LONGEST || !isType(head)) return broken(offset)
    const type = head.toString('latin1', 4, 8)
    const end = offset + AROUND_DATA + length
    // Its checksum is always the same: the last bytes to be written.
    if (type === 'IEND' && (await reader.bytes(end - 4, 4))?.readUInt32BE(0) !== IEND_CHECK)
      return cut('its last chunk, IEND, is cut off')
    if (type === 'IEND' && blank) return BLANK
    if (type === 'IEND' || end > reader.size) return endingAt(end, reader.size, `its chunk ${type}`)
    blank ||= PIXELS.has(type) && (await reader.hasBlankPage(offset, end))
    offset = end
  }
}

/** Four letters. What a writer has yet to fill is zeros. */
function isType(head: Buffer): boolean {
  for (let at = 4; at < 8; at++) {
    const letter = head[at]! & ~0x20
    if (letter < 0x41 || letter > 0x5a) return false
  }
  return true
}
