import { type ByteReader, PAGE } from '../byte-reader.ts'
import { flawed, type Part } from './part.ts'
import { type Directory, HEADER, POINTER, Tiff } from './tiff-directories.ts'
import { endOfZeros, ROOM, Zeros } from './zeros.ts'

const WIDTH = 256
const HEIGHT = 257
const BITS = 258
export const COMPRESSION = 259
const PHOTOMETRIC = 262
const SAMPLES = 277
const ROWS_PER_STRIP = 278
const PLANAR = 284
export const SUB_DIRECTORIES = 330
const DNG_VERSION = 50_706
const NUMBERS = [WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, SAMPLES, ROWS_PER_STRIP, PLANAR, DNG_VERSION]
/** The tags that say where the pixels are and how long they are: for strips, for tiles, and for the JPEG in old TIFFs. */
export const PIECES = [
  { kind: 'strip', offsets: 273, lengths: 279 },
  { kind: 'tile', offsets: 324, lengths: 325 },
  { kind: 'JPEG', offsets: 513, lengths: 514 },
] as const
const YCBCR = 6

/** So many directories are read, because a file may be crafted to take long. */
export const MOST_DIRECTORIES = 1000
const NOTHING_BELOW = 2 ** 32 - 1

/** A directory, or a part that one names. */
export interface TiffPart extends Part {
  directory?: Directory
}

/** A TIFF's directories say where everything is. No part is the end, because a writer may append a page. */
export async function* walkTiff(reader: ByteReader, given?: Tiff): AsyncGenerator<TiffPart, void> {
  const { size } = reader
  const tiff = given ?? (await Tiff.at(reader))
  const header: Part = { role: 'header', name: 'header', from: 0, to: HEADER }
  const code = size < HEADER ? 'cut' : tiff.first === 0 && 'unwritten'
  yield flawed(header, code, header.name, code === 'cut' ? size : HEADER - POINTER)
  if (code) return
  const pixels = new Pixels(tiff)
  // The loop visits those that are added meanwhile, too.
  const directories = new Set([tiff.first])
  const enter = (at: number) => {
    if (at > 0 && at !== NOTHING_BELOW && directories.size < MOST_DIRECTORIES) directories.add(at)
  }
  let count = 0
  for (const at of directories) {
    const directory = await tiff.directory(at)
    const numbers = await tiff.numbers(directory, NUMBERS)
    const part: Part = { role: 'index', name: `directory ${++count}`, from: at, to: directory.end + POINTER }
    if (count === 1) {
      const [width, height] = [numbers.get(WIDTH), numbers.get(HEIGHT)]
      const isRaw = numbers.has(DNG_VERSION)
      part.states = { ...(width && height && { width, height }), ...(isRaw && { raw: true as const }) }
    }
    yield { ...(await looked(reader, directory, part)), directory }
    for await (const below of tiff.numbersOf(directory.entries.get(SUB_DIRECTORIES))) enter(below)
    yield* pixels.of(directory, numbers)
    enter(directory.next)
  }
  if (pixels.pieces === 0) yield flawed({ role: 'image', name: 'strip 1', from: size, to: size }, 'no_pixels')
  if ((await reader.zerosAtEnd()) >= PAGE)
    pixels.dark ??= { role: 'unwritten', name: 'rest', from: size - PAGE, to: size }
  if (pixels.dark && pixels.isLit) yield flawed(pixels.dark, 'zeros')
}

async function looked(reader: ByteReader, { count, end, flaw }: Directory, part: Part): Promise<Part> {
  if (flaw) return flawed(part, flaw.code, flaw.part, flaw.at)
  if (count > 0) return flawed(part, end === reader.size && 'no_end')
  const { states, from } = part
  const isRoom = states || (await endOfZeros(reader, from, from + ROOM)) === from + ROOM
  return flawed(part, isRoom ? 'unwritten' : 'announced')
}

/** The strips, tiles and JPEGs of all directories. */
class Pixels {
  readonly #tiff: Tiff
  readonly #zeros = new Zeros()
  #read = 0
  pieces = 0
  /** A long stretch of zeros among plain pixels, and whether there are others: a black picture has none. */
  dark: Part | null = null
  isLit = false

  constructor(tiff: Tiff) {
    this.#tiff = tiff
  }

  async *of({ entries }: Directory, numbers: Map<number, number>): AsyncGenerator<Part, void> {
    const isPlain = (numbers.get(COMPRESSION) ?? 1) === 1
    for (const { kind, offsets, lengths } of PIECES) {
      const index = entries.get(offsets)
      if (!index || (kind === 'JPEG' && !entries.has(lengths))) continue
      const sizes = this.#tiff.numbersOf(entries.get(lengths))
      let [piece, written] = [0, 0]
      for await (const from of this.#tiff.numbersOf(index)) {
        const stated = (await sizes.next()).value || 0
        const needed = isPlain && kind === 'strip' ? lengthOfStrip(numbers, piece) : null
        piece++
        // Programs leave out pieces without pixels on purpose, but not all.
        if (from + stated === 0) continue
        written++
        const part: Part = { role: 'image', name: `${kind} ${piece}`, from, to: from + stated, by: 'index' }
        yield await this.#take(part, isPlain, needed, index.at + (piece - 1) * index.bytes)
      }
      this.pieces += piece
      const none: Part = { role: 'image', name: `offset of ${kind} 1`, from: 0, to: 0 }
      if (piece > written && written === 0) yield flawed(none, 'unwritten', none.name, index.at)
    }
  }

  /** Looks at a piece. Where its length is not stated, or lies behind the file's end, the one that its rows need counts.
   * `place`: where its offset stands. */
  async #take(part: Part, isPlain: boolean, needed: number | null, place: number): Promise<Part> {
    const { from } = part
    const { reader } = this.#tiff
    const { size } = reader
    const isStated = part.to > from
    const isBeyond = part.to > size && needed !== null && from + needed <= part.to
    if (from === 0) return flawed(part, 'unwritten', `offset of ${part.name}`, place)
    if (!isStated || isBeyond) part.to = from + (needed ?? Math.max(1, size - from))
    if (part.to > size) return flawed(part, 'cut')
    // A crafted file may name the same bytes again and again.
    this.#read += part.to - from
    if (this.#read > 4 * size) return part
    const { row, all } = await this.#zeros.within(reader, from, part.to)
    if (!isPlain && (row !== null || (all && part.to - from >= ROOM)))
      return flawed(part, 'unwritten', part.name, row)
    this.isLit ||= !all
    if (isPlain && row !== null) this.dark ??= { ...part, role: 'unwritten', from: row }
    return flawed(part, (isBeyond || (!isStated && needed === null)) && 'length')
  }
}

/** Bytes of an uncompressed strip; null: they can't be computed. */
function lengthOfStrip(numbers: Map<number, number>, strip: number): number | null {
  const number = (tag: number, otherwise: number) => numbers.get(tag) ?? otherwise
  const [width, height] = [number(WIDTH, 0), number(HEIGHT, 0)]
  // Two of the three samples of YCbCr stand for several pixels. Samples that lie apart have strips of their own.
  const isKnown = width * height > 0 && number(PHOTOMETRIC, 0) !== YCBCR && number(PLANAR, 1) === 1
  const rows = Math.min(height, number(ROWS_PER_STRIP, height)) || 1
  const row = Math.ceil((width * number(BITS, 1) * number(SAMPLES, 1)) / 8)
  return isKnown ? row * Math.max(0, Math.min(rows, height - strip * rows)) : null
}
