import type { ByteSource } from '../window.ts'

/** Bytes of one read, and of the memory that is held. */
const WINDOW = 64 * 1024

/** Bytes of a page. Holes in files and reserved room consist of pages of zeros. */
export const PAGE = 4096
const ZEROS = Buffer.alloc(PAGE)

/** Reads a source from place to place. Memory does not grow with the source. */
export class ByteReader {
  readonly size: number
  readonly #source: ByteSource
  #offset = 0
  #window: Buffer = Buffer.alloc(0)

  constructor(source: ByteSource) {
    this.#source = source
    this.size = source.size
  }

  /**
   * The bytes from `offset` on, when they are in memory already: at least `length`, often more. Otherwise null. Code that
   * makes many small steps asks here first, because an await costs more than a step.
   */
  held(offset: number, length: number): Buffer | null {
    const from = offset - this.#offset
    if (from < 0 || from + length > this.#window.byteLength) return null
    return this.#window.subarray(from)
  }

  /** At least `length` bytes (at most 65,536) from `offset` on, or null when the source ends before. */
  async bytes(offset: number, length: number): Promise<Buffer | null> {
    if (offset + length > this.size) return null
    const held = this.held(offset, length)
    if (held) return held
    const { buffer, byteOffset, byteLength } = await this.#source.read(offset, WINDOW)
    this.#window = Buffer.from(buffer, byteOffset, byteLength)
    this.#offset = offset
    return this.held(offset, length)
  }

  /** The offset of the next `text` (Latin-1), or null. */
  async find(text: string, from: number): Promise<number | null> {
    for (let offset = from; ; ) {
      const bytes = await this.bytes(offset, text.length)
      if (bytes === null) return null
      const at = bytes.indexOf(text, 0, 'latin1')
      if (at >= 0) return offset + at
      offset += bytes.byteLength - text.length + 1
    }
  }

  /** Whether a page within these bytes consists of zeros. */
  async hasBlankPage(from: number, to: number): Promise<boolean> {
    for (let at = PAGE * Math.ceil(from / PAGE); at + PAGE <= to; at += PAGE) {
      const page = this.held(at, PAGE) ?? (await this.bytes(at, PAGE))
      if (page?.[0] === 0 && page.subarray(0, PAGE).equals(ZEROS)) return true
    }
    return false
  }

  /** How many zeros the source ends with, counted up to a page. */
  async zerosAtEnd(): Promise<number> {
    const length = Math.min(PAGE, this.size)
    const bytes = (await this.bytes(this.size - length, length))?.subarray(0, length) ?? Buffer.alloc(0)
    return bytes.byteLength - 1 - bytes.findLastIndex(byte => byte !== 0)
  }
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

/**
 * A text with one byte for each character. UTF-16 is narrowed, other encodings stay as they are. A character that is not
 * Latin-1 becomes a question mark, because only the ASCII characters of XML matter here. `head`: the first two bytes.
 */
export function oneByteText(source: ByteSource, head: Uint8Array): ByteSource {
  const [first, second] = head
  const little = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)
  const big = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)
  if (!little && !big) return source
  return {
    size: Math.floor(source.size / 2),
    async read(offset, length) {
      const wide = await source.read(2 * offset, 2 * length)
      const narrow = Buffer.alloc(wide.byteLength >> 1)
      for (let at = 0; at < narrow.length; at++) {
        const [high, low] = little ? [wide[2 * at + 1], wide[2 * at]] : [wide[2 * at], wide[2 * at + 1]]
        narrow[at] = high === 0 ? low! : 0x3f
      }
      return narrow
    },
  }
}

/**
 * How a picture's bytes end.
 * closed: the picture is complete, and the file ends with the picture's end marker.
 * whole: the picture is complete, and more bytes follow its end, or may follow.
 * blank: the file has the stated length, but ends with a page of zeros, or has one among compressed pixels. This is a dark part
 * of the picture, or reserved room that is not written yet.
 * cut: a part is missing. `missing` says which, as the end of "it is not complete: …".
 * unclear: the bytes do not tell.
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

/** Bytes that do not follow the format. A writer may have left a hole there, or not have written there yet. */
export function broken(offset: number): Ending {
  return cut(`what stands at byte ${offset} does not belong there`)
}

/** The ending of a picture whose last byte is before the offset `end`. */
export function endingAt(end: number, size: number, wants: string): Ending {
  if (end > size) return cut(`${wants} ends at byte ${end}, and the file has ${size}`)
  return end === size ? CLOSED : WHOLE
}
