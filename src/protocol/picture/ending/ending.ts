/**
 * How a picture's bytes end.
 * closed: it is all there, and its last byte is the one that its format ends with.
 * whole: it is all there, and more stands behind its end or may yet come.
 * blank: it is as long as it says, and ends in a page of zeros at least, or has one among compressed pixels, where none
 * belongs: a dark part of it, or room that was reserved for it and is yet to be written.
 * cut: part of it is missing; `missing` says which, as the end of "it is not complete: …".
 * unclear: its bytes do not tell.
 */
export type Ending =
  | { kind: 'closed' }
  | { kind: 'whole' }
  | { kind: 'blank' }
  | { kind: 'cut'; missing: string }
  | { kind: 'unclear' }

export const CLOSED: Ending = { kind: 'closed' }
export const WHOLE: Ending = { kind: 'whole' }
export const BLANK: Ending = { kind: 'blank' }
export const UNCLEAR: Ending = { kind: 'unclear' }

export function cut(missing: string): Ending {
  return { kind: 'cut', missing }
}

/** Bytes that do not follow the format, where a writer may have left a hole or old bytes behind its own. */
export function broken(offset: number): Ending {
  return cut(`what stands at byte ${offset} does not belong there`)
}

/** `end`: the offset behind the picture's last byte. */
export function endingAt(end: number, size: number, wants: string): Ending {
  if (end > size) return cut(`${wants} ends at byte ${end}, and the file has ${size}`)
  return end === size ? CLOSED : WHOLE
}
