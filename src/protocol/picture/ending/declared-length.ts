import { type ByteReader, PAGE } from './byte-reader.ts'
import { BLANK, type Ending, endingAt, WHOLE } from './ending.ts'

/** So few zeros may be chance, and may be the end of reserved room: such a picture is not finished early. */
const SUSPECT = 16

/**
 * Of a format without an end marker, whose header says how long it is: `end`, the offset behind its last byte. That does
 * not tell whether it is written: Windows gives a file that it copies to a share its full length before the first byte,
 * and what fetches a file in parts may write its last one first.
 */
export async function endingOfLength(reader: ByteReader, end: number, wants: string): Promise<Ending> {
  if (end > reader.size) return endingAt(end, reader.size, wants)
  const zeros = await reader.zerosAtEnd()
  if (zeros >= PAGE) return BLANK
  return zeros >= SUSPECT || (await reader.hasBlankPage(0, end)) ? WHOLE : endingAt(end, reader.size, wants)
}
