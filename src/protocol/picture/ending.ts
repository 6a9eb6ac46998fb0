import { type ByteReader, PAGE } from './byte-reader.ts'

/** How a picture's bytes end.
 * closed: the picture is complete, and the file ends with the picture's end marker.
 * whole: the picture is complete, and more bytes follow its end, or may follow.
 * blank: the file has the stated length, but ends with a page of zeros, or has one among compressed pixels. This is a dark part
 * of the picture, or reserved room that is not written yet.
 * cut: a part is missing. `missing` says which, as the end of "it is not complete: …".
 * unclear: the bytes do not tell. */
export type Ending = { kind: 'closed' | 'whole' | 'blank' | 'unclear' } | { kind: 'cut'; missing: string }

export const CLOSED: Ending = { kind: 'closed' }
export const WHOLE: Ending = { kind: 'whole' }
export const BLANK: Ending = { kind: 'blank' }
export const UNCLEAR: Ending = { kind: 'unclear' }

export function cut(missing: string): Ending {
  return { kind: 'cut', missing }
}

/** The ending of a file that does not follow its format: a writer left a hole, or writes there later. */
export function broken(offset: number): Ending {
  return cut(`what stands at byte ${offset} does not belong there`)
}

/** The ending of a picture up to offset `end` in a file of `size` bytes. `wants`: what ends there, for the message. */
export function endingAt(end: number, size: number, wants: string): Ending {
  if (end > size) return cut(`${wants} ends at byte ${end}, and the file has ${size}`)
  return end === size ? CLOSED : WHOLE
}

/** A file that ends with so many zeros is not closed: they may be dark pixels or reserved room. */
const SUSPECT = 16

/** The ending of a format whose header states its length. `end`: behind the last byte. The full length proves little:
 * Windows reserves it for copies to a share, and downloads in parts may write the last part first. */
export async function endingOfLength(reader: ByteReader, end: number, wants: string): Promise<Ending> {
  if (end > reader.size) return endingAt(end, reader.size, wants)
  const zeros = await reader.zerosAtEnd()
  if (zeros >= PAGE) return BLANK
  return zeros >= SUSPECT || (await reader.hasBlankPage(0, end)) ? WHOLE : endingAt(end, reader.size, wants)
}
