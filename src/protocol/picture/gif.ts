import { ByteReader } from './byte-reader.ts'
import { type FlawCode, flawed, type Part, type Walk } from './part.ts'
import { endOfZeros, ROOM, walkRest, ZeroPages } from './zeros.ts'

const SCREEN = 13
const TRAILER = 0x3b
const EXTENSION = 0x21
const IMAGE = 0x2c
/** The extension that says how the next image is shown, so an image follows. */
const CONTROL = 0xf9
const PLAIN_TEXT = 0x01
const DESCRIPTOR = 10

/** What the blocks so far say. */
interface Seen {
  images: number
  /** The last image: the offset of the byte that states its code size, before the compressed pixels, and their number. */
  data: number
  pixels: number
  /** Whether another image follows. */
  announced: boolean
}

/** A GIF is a sequence of blocks, and ends with its trailer, one byte. */
export const walkGif: Walk = async function* (reader) {
  const screen = await reader.bytes(0, SCREEN)
  const header: Part = { role: 'header', name: 'header', from: 0, to: SCREEN + tableLength(screen?.[10]) }
  yield flawed(header, header.to > reader.size && 'cut')
  const seen: Seen = { images: 0, data: 0, pixels: 0, announced: false }
  for (let at = header.to; ; ) {
    const part = (await blockAt(reader, at, seen)) ?? (await noBlock(reader, at, seen))
    yield part
    if (part.role === 'end') return yield* walkRest(reader, part.to)
    if (part.name === 'rest') return
    at = part.to
  }
}

/** The extension or image at this offset. Null: something else. */
async function blockAt(reader: ByteReader, from: number, seen: Seen): Promise<Part | null> {
  const left = Math.max(0, reader.size - from)
  const [introducer, label] = (await reader.bytes(from, Math.min(2, left))) ?? []
  const block = async (role: Part['role'], name: string, data: number) => {
    const to = await endOfBlocks(reader, data)
    return flawed({ role, name, from, to: to ?? Math.max(from, reader.size) }, to === null && 'cut')
  }
  if (introducer === EXTENSION) {
    seen.announced ||= label === CONTROL
    return block(label === CONTROL || label === PLAIN_TEXT ? 'header' : 'metadata', 'extension', from + 2)
  }
  if (introducer !== IMAGE) return null
  const descriptor = await reader.bytes(from, DESCRIPTOR)
  seen.images++
  seen.announced = false
  seen.data = from + DESCRIPTOR + tableLength(descriptor?.[9])
  seen.pixels = descriptor ? descriptor.readUInt16LE(5) * descriptor.readUInt16LE(7) : 0
  return block('image', `image ${seen.images}`, seen.data + 1)
}

/** The trailer, or what stands where a block should begin. */
async function noBlock(reader: ByteReader, from: number, seen: Seen): Promise<Part> {
  const { size } = reader
  const image = `image ${seen.images}`
  const next = `image ${seen.images + 1}`
  const rest = (code: FlawCode, named: string) =>
    flawed({ role: 'stray', name: 'rest', from, to: Math.max(from, size) }, code, named)
  const zeros = (await endOfZeros(reader, from)) - from
  // Some writers leave a few zeros between blocks, and decoders skip them.
  if (zeros > 0 && zeros < ROOM && from + zeros < size)
    return { role: 'stray', name: 'padding', from, to: from + zeros }
  if (zeros > 0) return { ...rest('unwritten', 'block'), role: 'unwritten' }
  if (seen.images === 0) return rest(from < size ? 'broken' : 'no_pixels', next)
  const isTrailer = (await reader.bytes(from, 1))?.[0] === TRAILER
  // The image before may be broken, so that its end was found too early.
  if (!(isTrailer && from + 1 === size) && !(await hasAllPixels(reader, seen))) return rest('rows', image)
  if (isTrailer) return { role: 'end', name: 'trailer', from, to: from + 1 }
  // Compressed pixels have no page of zeros.
  if ((await new ZeroPages(reader).take(from, size)).page) return rest('unwritten', 'block')
  if (size - from < ROOM) return seen.announced ? rest('cut', next) : rest('no_end', 'trailer')
  // Decoders show what came before. A writer that had not finished would not have written the trailer.
  return (await reader.bytes(size - 1, 1))?.[0] === TRAILER ? rest('stray', 'block') : rest('broken', 'block')
}

/** The length of the colour table in bytes, from the descriptor's field that packs flags and the table's size. */
function tableLength(packed = 0): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
}

/** The data blocks from `from` on, each after its length in one byte, as many at once as are in memory. An empty one ends
 * them; without it the source ends earlier. */
async function* dataBlocks(reader: ByteReader, from: number): AsyncGenerator<Buffer[], void> {
  for (let offset = from; ; ) {
    // At least one block: it has at most 255 bytes, after its length.
    const bytes = await reader.bytes(offset, Math.min(256, Math.max(1, reader.size - offset)))
    const blocks: Buffer[] = []
    let at = 0
    while (bytes && at + (bytes[at] ?? 256) < bytes.byteLength && blocks.at(-1)?.byteLength !== 0) {
      const end = at + 1 + bytes[at]!
      blocks.push(bytes.subarray(at + 1, end))
      at = end
    }
    if (at > 0) yield blocks
    if (at === 0 || blocks.at(-1)?.byteLength === 0) return
    offset += at
  }
}

/** The offset behind the data blocks. Null: the source ends earlier. */
async function endOfBlocks(reader: ByteReader, from: number): Promise<number | null> {
  let to = from
  for await (const blocks of dataBlocks(reader, from)) {
    for (const { byteLength } of blocks) to += 1 + byteLength
    if (blocks.at(-1)!.byteLength === 0) return to
  }
  return null
}

const MOST_BITS = 12

/** Whether the last image's compressed data hold all its pixels and then end, counted with a reader of its own. */
async function hasAllPixels({ source }: ByteReader, { data, pixels }: Seen): Promise<boolean> {
  const reader = new ByteReader(source)
  const start = (await reader.bytes(data, 1))?.[0] ?? 0
  if (start < 1 || start > 8) return false
  const codes = new Codes(start)
  for await (const blocks of dataBlocks(reader, data + 1))
    for (const block of blocks) {
      if (block.byteLength === 0) return codes.pixels === pixels
      codes.take(block)
      if (codes.pixels > pixels) return false
    }
  return false
}

/** Counts the pixels that LZW codes stand for: a code's string is one longer than that of the code before. */
class Codes {
  readonly #clear: number
  readonly #lengths: Uint32Array
  #bits = 0
  #next = 0
  #before = 0
  #held = 0
  #holds = 0
  #hasEnded = false
  /** Infinite after a code that stands for nothing. */
  pixels = 0

  constructor(start: number) {
    this.#clear = 2 ** start
    this.#lengths = new Uint32Array(2 ** MOST_BITS).fill(1, 0, this.#clear)
    this.#take(this.#clear)
  }

  take(block: Buffer): void {
    for (const byte of block) {
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
    if (code === this.#clear) {
      this.#bits = Math.log2(this.#clear) + 1
      this.#next = this.#clear + 2
      this.#before = 0
    } else if (code === this.#clear + 1) this.#hasEnded = true
    else if (code > this.#next || (code === this.#next && this.#before === 0)) this.pixels = Infinity
    else {
      if (this.#before > 0 && this.#next < 2 ** MOST_BITS) this.#lengths[this.#next++] = this.#before + 1
      if (this.#next === 2 ** this.#bits && this.#bits < MOST_BITS) this.#bits++
      this.#before = this.#lengths[code]!
      this.pixels += this.#before
    }
  }
}
