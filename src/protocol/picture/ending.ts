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

/**
 * The ending of a file with bytes that do not follow the format. A writer may have left a hole at these bytes, or will
 * write them later.
 */
export function broken(offset: number): Ending {
  return cut(`what stands at byte ${offset} does not belong there`)
}

/**
 * The ending of a picture that goes up to the offset `end`, in a file of `size` bytes. `wants`: what ends there, for the
 * message.
 */
export function endingAt(end: number, size: number, wants: string): Ending {
  if (end > size) return cut(`${wants} ends at byte ${end}, and the file has ${size}`)
  return end === size ? CLOSED : WHOLE
}

/**
 * When a file ends with this many zeros or more, its picture does not count as closed: the zeros may be part of the
 * picture, or room that a writer reserved.
 */
const SUSPECT = 16

/**
 * The ending of a format without an end marker, whose header states its length. `end`: the offset behind the picture's last
 * byte. A file of the stated length may still be incomplete: Windows gives a file that it copies to a share its full length
 * at first, and a download in parts may write the last part first.
 */
export async function endingOfLength(reader: ByteReader, end: number, wants: string): Promise<Ending> {
  if (end > reader.size) return endingAt(end, reader.size, wants)
  const zeros = await reader.zerosAtEnd()
  if (zeros >= PAGE) return BLANK
  return zeros >= SUSPECT || (await reader.hasBlankPage(0, end)) ? WHOLE : endingAt(end, reader.size, wants)
}
