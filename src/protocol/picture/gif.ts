import { ByteReader } from './byte-reader.ts'
import { FLAWS, type FlawCode, type Part, type Role, type Walk } from './part.ts'
import { endOfZeros, ROOM, walkRest } from './zeros.ts'

const SCREEN = 13
const TRAILER = 0x3b
const EXTENSION = 0x21
const IMAGE = 0x2c
/** The extension that says how the next image is shown, so an image follows. */
const CONTROL = 0xf9
const PLAIN_TEXT = 0x01
const DESCRIPTOR = 10

/** An image: its block, and the offset of the byte that states its code size, before the compressed pixels. */
interface Image {
  number: number
  data: number
  pixels: number
  /** Whether all its pixels are there; they are counted only in doubt. */
  isWhole?: boolean
}

/** A GIF is a sequence of blocks, and ends with its trailer, one byte. */
export const walkGif: Walk = async function* (reader) {
  const { size } = reader
  const screen = await reader.bytes(0, SCREEN)
  const to = SCREEN + tableLength(screen?.[10] ?? 0)
  const header: Part = { role: 'header', name: 'header', from: 0, to }
  if (!screen || to > size) return yield { ...header, flaw: { code: 'cut', part: 'header', at: size } }
  yield header
  const blocks = new Blocks(reader, screen.readUInt16LE(6), screen.readUInt16LE(8))
  for (let at = to; ; ) {
    const block = await blocks.at(at)
    yield block
    const code = block.flaw?.code
    if (code && (code === 'no_end' || FLAWS[code] === 'missing')) return
    at = block.to
    if (block.role === 'end') return yield* walkRest(reader, at)
  }
}

class Blocks {
  readonly #reader: ByteReader
  readonly #width: number
  readonly #height: number
  #image: Image | null = null
  /** Whether the blocks say that another image follows. */
  #announces = false

  constructor(reader: ByteReader, width: number, height: number) {
    this.#reader = reader
    this.#width = width
    this.#height = height
  }

  /** The block at this offset, or what stands in its place. */
  async at(at: number): Promise<Part> {
    const reader = this.#reader
    const [introducer, label] = (await reader.bytes(at, Math.min(2, reader.size - at))) ?? []
    if (introducer === EXTENSION && label !== undefined) {
      this.#announces ||= label === CONTROL
      const role = label === CONTROL || label === PLAIN_TEXT ? 'header' : 'metadata'
      return this.#block(role, 'extension', at, await endOfParts(reader, at + 2))
    }
    if (introducer === IMAGE) {
      const descriptor = await reader.bytes(at, DESCRIPTOR)
      const data = at + DESCRIPTOR + tableLength(descriptor?.[9] ?? 0)
      const pixels = descriptor ? descriptor.readUInt16LE(5) * descriptor.readUInt16LE(7) : 0
      this.#image = { number: (this.#image?.number ?? 0) + 1, data, pixels }
      this.#announces = false
      return this.#block('image', `image ${this.#image.number}`, at, await endOfParts(reader, data + 1))
    }
    return introducer === 0 ? this.#zeros(at) : this.#noBlock(at, introducer === TRAILER)
  }

  #block(role: Role, name: string, from: number, to: number | null, code?: FlawCode, named = name): Part {
    const { size } = this.#reader
    const flaw =
      to === null ? { code: 'cut' as const, part: name, at: size } : code && { code, part: named, at: from }
    return { role, name, from, to: to ?? size, ...(flaw && { flaw }) }
  }

  /** Some writers leave a few zeros between blocks, and decoders skip them. */
  async #zeros(at: number): Promise<Part> {
    const end = await endOfZeros(this.#reader, at)
    if (end < this.#reader.size && end - at < ROOM) return this.#block('stray', 'padding', at, end)
    return this.#block('unwritten', 'rest', at, end, 'unwritten', 'block')
  }

  /** The trailer, or something that is no block. */
  async #noBlock(at: number, isTrailer: boolean): Promise<Part> {
    const { size } = this.#reader
    const image = this.#image
    if (image === null)
      return this.#block('stray', 'rest', at, size, at < size ? 'broken' : 'no_pixels', 'image 1')
    if (isTrailer && at + 1 === size) return this.#block('end', 'trailer', at, size)
    // The image before may be broken, so that its end was found too early.
    image.isWhole ??= await hasAllPixels(this.#reader, image)
    if (!image.isWhole) return this.#block('stray', 'rest', at, size, 'rows', `image ${image.number}`)
    if (isTrailer) return this.#block('end', 'trailer', at, at + 1)
    if (at === size && this.#announces) return this.#block('image', `image ${image.number + 1}`, at, null)
    const next = await nextBlock(this.#reader, at, this.#width, this.#height)
    return next === null
      ? this.#block('stray', 'rest', at, size, 'no_end', 'trailer')
      : this.#block('stray', 'rest', at, next, 'stray', 'block')
  }
}

/** So many bytes are searched for the next block behind bytes that are none. */
const SEARCHED = 1024

/** The offset of the next block behind bytes that are none, or of a trailer that ends the file. */
async function nextBlock(
  reader: ByteReader,
  from: number,
  width: number,
  height: number,
): Promise<number | null> {
  const length = Math.min(SEARCHED, reader.size - from)
  const bytes = (await reader.bytes(from, length))?.subarray(0, length) ?? Buffer.alloc(0)
  for (let at = 0; at < bytes.byteLength; at++) {
    const rest = bytes.subarray(at, at + DESCRIPTOR)
    const isExtension = EXTENSIONS.test(rest.toString('latin1'))
    const isImage =
      rest[0] === IMAGE &&
      rest.byteLength === DESCRIPTOR &&
      rest.readUInt16LE(1) + rest.readUInt16LE(5) <= width &&
      rest.readUInt16LE(3) + rest.readUInt16LE(7) <= height
    if (isExtension || isImage || (rest[0] === TRAILER && from + at + 1 === reader.size)) return from + at
  }
  return null
}

const EXTENSIONS = /^!(?:\xf9\x04.{4}\0|\xff\x0b|\xfe)/s

/** The offset behind a block's parts, each after its length in one byte; 0 ends them. Null: the source ends earlier. */
async function endOfParts(reader: ByteReader, from: number): Promise<number | null> {
  for (let offset = from; ; ) {
    const bytes = await reader.bytes(offset, 1)
    if (bytes === null) return null
    let at = 0
    while (at < bytes.byteLength) {
      const length = bytes[at]!
      at += length + 1
      if (length === 0) return offset + at
    }
    offset += at
  }
}

/** The length of the colour table in bytes, from the descriptor's field that packs flags and the table's size. */
function tableLength(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
}

const MOST_BITS = 12

/** Whether the image's compressed data hold all its pixels and then end. They are counted, with a reader of their own. */
async function hasAllPixels({ source }: ByteReader, { data, pixels }: Image): Promise<boolean> {
  const reader = new ByteReader(source)
  const start = (await reader.bytes(data, 1))?.[0] ?? 0
  if (start < 1 || start > 8) return false
  const codes = new Codes(start, pixels)
  for (let offset = data + 1; !codes.isBroken; ) {
    // At least one part: it has at most 255 bytes, after its length.
    const bytes = await reader.bytes(offset, Math.min(256, source.size - offset))
    let at = 0
    for (let length = bytes?.[0] ?? 0; bytes && at + length < bytes.byteLength; length = bytes[at] ?? 256) {
      if (length === 0) return codes.pixels === pixels
      codes.take(bytes.subarray(at + 1, at + 1 + length))
      at += 1 + length
    }
    if (at === 0) return false
    offset += at
  }
  return false
}

/** Counts the pixels that LZW codes stand for: a code's string is one longer than that of the code before. */
class Codes {
  readonly #start: number
  readonly #lengths = new Uint32Array(2 ** MOST_BITS)
  #bits: number
  #next: number
  #before = 0
  #held = 0
  #holds = 0
  #hasEnded = false
  #isBroken = false
  readonly #most: number
  pixels = 0

  constructor(start: number, most: number) {
    this.#start = start
    this.#most = most
    this.#bits = start + 1
    this.#next = 2 ** start + 2
    this.#lengths.fill(1, 0, 2 ** start)
  }

  /** Whether there was a code that stands for nothing, or there are too many pixels. */
  get isBroken(): boolean {
    return this.#isBroken || this.pixels > this.#most
  }

  take(bytes: Buffer): void {
    for (const byte of bytes) {
      this.#held |= byte << this.#holds
      this.#holds += 8
      while (this.#holds >= this.#bits && !this.#hasEnded) {
        const code = this.#held & (2 ** this.#bits - 1)
        this.#held >>>= this.#bits
        this.#holds -= this.#bits
        this.#take(code)
      }
      if (this.#hasEnded) return
    }
  }

  #take(code: number): void {
    const clear = 2 ** this.#start
    if (code === clear) {
      this.#bits = this.#start + 1
      this.#next = clear + 2
      this.#before = 0
    } else if (code === clear + 1) this.#hasEnded = true
    else if (code > this.#next || (code === this.#next && this.#before === 0))
      this.#isBroken = this.#hasEnded = true
    else {
      if (this.#before > 0 && this.#next < 2 ** MOST_BITS) this.#lengths[this.#next++] = this.#before + 1
      if (this.#next === 2 ** this.#bits && this.#bits < MOST_BITS) this.#bits++
      this.#before = this.#lengths[code]!
      this.pixels += this.#before
    }
  }
}
