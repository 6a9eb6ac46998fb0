import type { ByteSource } from '../source.ts'

/** Bytes of one read, and all that is held at a time. */
const WINDOW = 64 * 1024

/** Bytes of a page: holes in files, and room that is only reserved, consist of them. */
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
   * The bytes from `offset` on that are held already: at least `length`, often more. Null where they are not. Walks of
   * many small steps ask here first, for an await costs more than their steps.
   */
  held(offset: number, length: number): Buffer | null {
    const from = offset - this.#offset
    if (from < 0 || from + length > this.#window.byteLength) return null
    return this.#window.subarray(from)
  }

  /** At least `length` bytes (at most 65,536) from `offset` on, or null where the source ends before. */
  async bytes(offset: number, length: number): Promise<Buffer | null> {
    if (offset + length > this.size) return null
    const held = this.held(offset, length)
    if (held) return held
    const { buffer, byteOffset, byteLength } = await this.#source.read(offset, WINDOW)
    this.#window = Buffer.from(buffer, byteOffset, byteLength)
    this.#offset = offset
    return this.held(offset, length)
  }

  /** Where `text` (Latin-1) stands next, or null. */
  async find(text: string, from: number): Promise<number | null> {
    for (let offset = from; ; ) {
      const bytes = await this.bytes(offset, text.length)
      if (bytes === null) return null
      const at = bytes.indexOf(text, 0, 'latin1')
      if (at >= 0) return offset + at
      offset += bytes.byteLength - text.length + 1
    }
  }

  /** Whether one of the pages within these bytes has nothing but zeros. */
  async hasBlankPage(from: number, to: number): Promise<boolean> {
    for (let at = PAGE * Math.ceil(from / PAGE); at + PAGE <= to; at += PAGE) {
      const page = this.held(at, PAGE) ?? (await this.bytes(at, PAGE))
      if (page?.[0] === 0 && page.subarray(0, PAGE).equals(ZEROS)) return true
    }
    return false
  }

  /** How many zeros the source ends with; a page stands for more. */
  async zerosAtEnd(): Promise<number> {
    const length = Math.min(PAGE, this.size)
    const bytes = (await this.bytes(this.size - length, length))?.subarray(0, length) ?? Buffer.alloc(0)
    return bytes.byteLength - 1 - bytes.findLastIndex(byte => byte !== 0)
  }
}
