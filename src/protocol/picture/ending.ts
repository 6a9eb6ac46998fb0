import { type ByteReader, PAGE } from './byte-reader.ts'

/**
 * How a picture's bytes end.
 * closed: the picture is complete, and the file ends with the picture's end marker.
 * whole: the picture is complete, and more bytes follow its end, or may follow.
 * blank: the file has the stated length, but ends with a page of zeros, or has one among compressed pixels. This is a dark part
 * of the picture, or reserved room that is not written yet.
 * cut: a part is missing. `missing` says which, as the end of "it is not complete: …".
 * unclear: the bytes do not tell.
 */
export type Ending = { kind: 'closed' | 'whole' | 'blank' | 'unclear' } | { kind: 'cut'; missing: string }

export const CLOSED: Ending = { kind: 'closed' }
export const WHOLE: Ending = { kind: 'whole' }
export const BLANK: Ending = { kind: 'blank' }
export const UNCLEAR: Ending = { kind: 'unclear' }

export function cut(missing: string): Ending {
  return { kind: 'cut', missing }
}

/** Bytes that do not follow the format. A writer may have left a hole there, or not have written there yet. */
export function broken(offset: number): Ending {
  return cut(`what stands at byte ${offset} does not belong there`)
}

/** The ending of a picture whose last byte is before the offset `end`. */
export function endingAt(end: number, size: number, wants: string): Ending {
  if (end > size) return cut(`${wants} ends at byte ${end}, and the file has ${size}`)
  return end === size ? CLOSED : WHOLE
}

/** A picture that ends with so many zeros does not count as closed: the zeros may be chance, or the end of reserved room. */
const SUSPECT = 16

/**
 * The ending of a format without an end marker, whose header states its length. `end`: the offset behind its last byte. The
 * length alone does not tell that all is written: Windows gives a file that it copies to a share its full length at first, and
 * a download in parts may write the last part first.
 */
export async function endingOfLength(reader: ByteReader, end: number, wants: string): Promise<Ending> {
  if (end > reader.size) return endingAt(end, reader.size, wants)
  const zeros = await reader.zerosAtEnd()
  if (zeros >= PAGE) return BLANK
  return zeros >= SUSPECT || (await reader.hasBlankPage(0, end)) ? WHOLE : endingAt(end, reader.size, wants)
}
