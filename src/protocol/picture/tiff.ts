import { type ByteReader, PAGE } from './byte-reader.ts'
import type { Flaw, FlawCode, Part, Role, Walk } from './part.ts'
import {
  DNG_VERSION,
  type Entry,
  HEADER,
  IMAGE_LENGTH,
  IMAGE_WIDTH,
  isWhole,
  MOST_DIRECTORIES,
  MOST_PIECES,
  PIXELS,
  SUB_DIRECTORIES,
  Tiff,
} from './tiff-directories.ts'
import { endOfZeros, ROOM, ZeroPages } from './zeros.ts'

const BITS = 258
const COMPRESSION = 259
const PHOTOMETRIC = 262
const SAMPLES = 277
const ROWS_PER_STRIP = 278
const PLANAR = 284
const TILE_WIDTH = 322
const TILE_LENGTH = 323
const NOTHING_BELOW = 2 ** 32 - 1
const YCBCR = 6
/** The tags whose first number the walk needs. Below: those that say where something lies. */
const NUMBERS = [
  ...[IMAGE_WIDTH, IMAGE_LENGTH, BITS, COMPRESSION, PHOTOMETRIC, SAMPLES],
  ...[ROWS_PER_STRIP, PLANAR, TILE_WIDTH, TILE_LENGTH],
]
const KEPT = new Set([SUB_DIRECTORIES, ...PIXELS.flatMap(({ offsets, lengths }) => [offsets, lengths])])

/** A TIFF's directories say where everything is. No part is the end, because a writer may append a page. */
export const walkTiff: Walk = async function* (reader) {
  const header = await reader.bytes(0, HEADER)
  const part: Part = { role: 'header', name: 'header', from: 0, to: 8 }
  if (header === null) return yield { ...part, flaw: { code: 'cut', part: 'header', at: reader.size } }
  const tiff = new Tiff(reader, header)
  const found = await tiff.numbers([IMAGE_WIDTH, IMAGE_LENGTH, DNG_VERSION])
  const [width, height] = [found?.get(IMAGE_WIDTH), found?.get(IMAGE_LENGTH)]
  const isRaw = found?.has(DNG_VERSION) || /^II\*\0.{4}CR\x02/s.test(header.toString('latin1', 0, HEADER))
  part.states = { ...(width && height && { width, height }), ...(isRaw && { raw: true as const }) }
  yield* new TiffWalk(reader, tiff).parts(part)
}

class TiffWalk {
  readonly #reader: ByteReader
  readonly #tiff: Tiff
  readonly #zeros: ZeroPages
  /** The directories that were found. `parts` loops over the set while others are added, and visits these too. */
  readonly #directories = new Set<number>()
  #directory = 0
  /** Entries and pieces that were walked through. */
  #walked = 0
  #read = 0
  #pieces = 0
  /** Whether a missing part was found, behind which there is no use in going on. */
  #stopped = false
  /** A long stretch of zeros among plain pixels, and whether there are others: a black picture has none. */
  #dark: Part | null = null
  #isLit = false
  #isPlain = false

  constructor(reader: ByteReader, tiff: Tiff) {
    this.#reader = reader
    this.#tiff = tiff
    this.#zeros = new ZeroPages(reader)
  }

  async *parts(header: Part): AsyncGenerator<Part, void> {
    const { first } = this.#tiff
    if (first === 0) return yield this.#part('header', 'header', 0, header.to, 'unwritten')
    yield header
    this.#directories.add(first)
    for (const directory of this.#directories) {
      if (this.#directory++ === MOST_DIRECTORIES || this.#walked > MOST_PIECES) return
      yield* this.#walk(directory)
      if (this.#stopped) return
    }
    const { size } = this.#reader
    if (this.#pieces === 0) yield this.#part('image', 'strip 1', size, size, 'no_pixels')
    const isRoom = (await this.#reader.zerosAtEnd()) >= PAGE
    const rest = this.#part('unwritten', 'rest', size - PAGE, size, 'zeros')
    const dark = this.#dark ?? (isRoom ? rest : null)
    if (dark && this.#isLit) yield dark
  }

  #part(role: Role, name: string, from: number, to: number, code?: FlawCode, named = name): Part {
    const at = code === 'cut' ? this.#reader.size : from
    this.#stopped ||= STOPS.has(code)
    return { role, name, from, to, by: 'index', ...(code && { flaw: { code, part: named, at } }) }
  }

  /** Walks through one directory and what it points at. */
  async *#walk(at: number): AsyncGenerator<Part, void> {
    const { pointer } = this.#tiff.layout
    const { size } = this.#reader
    const name = `directory ${this.#directory}`
    const { from, end } = (await this.#tiff.entriesOf(at)) ?? { from: at, end: Math.max(at, size) + 1 }
    const to = end + pointer
    // Some writers leave out the pointer to the next directory behind the last one, at the file's end.
    const isOpen = end === size
    if (to > size && !isOpen) return yield this.#part('index', name, at, to, 'cut')
    if (from === end) {
      const isRoom = this.#directory === 1 || (await endOfZeros(this.#reader, at)) - at >= ROOM
      return yield this.#part('index', name, at, to, isRoom ? 'unwritten' : 'announced')
    }
    const found = await this.#entries(from, end)
    if (found === null) return
    if ('code' in found) return yield this.#part('index', name, at, to, found.code, found.part)
    const layout = await this.#layoutOf(at)
    yield this.#part('index', name, at, to, isOpen ? 'no_end' : undefined)
    for await (const below of this.#tiff.numbersOf(found.get(SUB_DIRECTORIES))) {
      if (++this.#walked > MOST_PIECES) return
      this.#enter(below)
    }
    for (const { offsets, lengths } of PIXELS)
      if (!this.#stopped) yield* this.#walkPieces(layout, found.get(offsets), found.get(lengths))
    this.#enter(isOpen ? 0 : await this.#tiff.directoryBehind(end))
  }

  /** The entries that the walk needs. Null: there are too many. */
  async #entries(
    from: number,
    end: number,
  ): Promise<Map<number, Entry> | Pick<Flaw, 'code' | 'part'> | null> {
    const found = new Map<number, Entry>()
    for (let offset = from; offset < end; offset += this.#tiff.layout.entry) {
      const each = await this.#tiff.entry(offset)
      if (each === null || ++this.#walked > MOST_PIECES) return null
      if (each.tag + each.type + each.count === 0) return { code: 'unwritten', part: `entry at ${offset}` }
      if (each.at + each.count * each.bytes > this.#reader.size)
        return { code: 'cut', part: `tag ${each.tag}` }
      if (KEPT.has(each.tag) && !found.has(each.tag)) found.set(each.tag, each)
    }
    return found
  }

  #enter(directory: number): void {
    const isNone = directory === 0 || directory === NOTHING_BELOW
    if (!isNone && this.#directories.size <= MOST_DIRECTORIES) this.#directories.add(directory)
  }

  async #layoutOf(directory: number): Promise<Layout> {
    const found = await this.#tiff.numbers(NUMBERS, directory)
    const number = (tag: number, otherwise: number) => found?.get(tag) ?? otherwise
    const [width, height] = [number(IMAGE_WIDTH, 0), number(IMAGE_LENGTH, 0)]
    const isApart = number(PLANAR, 1) === 2
    const bits = number(BITS, 1) * (isApart ? 1 : number(SAMPLES, 1))
    this.#isPlain = number(COMPRESSION, 1) === 1
    return {
      ...{ height, tile: Math.ceil((number(TILE_WIDTH, 0) * bits) / 8) * number(TILE_LENGTH, 0) },
      // Two of the three samples of YCbCr stand for several pixels.
      isKnown: this.#isPlain && width * height > 0 && number(PHOTOMETRIC, 0) !== YCBCR,
      row: Math.ceil((width * bits) / 8),
      rows: Math.min(height, number(ROWS_PER_STRIP, height)) || 1,
    }
  }

  /** Walks through strips or tiles. Single ones may have length 0; when all have, lengths are not stated, and computed. */
  async *#walkPieces(
    layout: Layout,
    offsets: Entry | undefined,
    lengths: Entry | undefined,
  ): AsyncGenerator<Part, void> {
    if (!isWhole(offsets) || (offsets.tag === JPEG_AT && !lengths)) return
    const kind = KINDS.get(offsets.tag) ?? 'JPEG'
    const isStated = await this.#hasNumbers(lengths)
    const [sizes, nexts] = [this.#tiff.numbersOf(lengths), this.#tiff.numbersOf(offsets)]
    await nexts.next()
    let [piece, written] = [0, 0]
    for await (const from of this.#tiff.numbersOf(offsets)) {
      const needed = lengthOfPiece(layout, kind, piece++)
      const next = (await nexts.next()).value || this.#reader.size
      const stated = (await sizes.next()).value || 0
      this.#pieces++
      if (++this.#walked > MOST_PIECES) return
      // A compressed piece without a stated length ends where the next one begins.
      const length = isStated ? stated : from && (needed ?? Math.max(0, next - from))
      if (length === 0) continue
      written++
      yield await this.#piece(`${kind} ${piece}`, from, length, needed, isStated)
      if (this.#stopped) return
    }
    if (written === 0) yield this.#part('image', `${kind} 1`, offsets.at, offsets.at, 'unwritten')
  }

  async #piece(
    name: string,
    from: number,
    length: number,
    needed: number | null,
    isStated: boolean,
  ): Promise<Part> {
    const { size } = this.#reader
    const isBeyond = from + length > size && needed !== null && needed <= length
    const to = from + (isBeyond ? needed : length)
    const part = (code?: FlawCode) => this.#part('image', name, from, to, code)
    if (from === 0) return part('unwritten')
    if (to > size) return part('cut')
    // A crafted file may name the same bytes again and again.
    this.#read += length
    if (this.#read > 4 * size) return part()
    const { page, all } = await this.#zeros.take(from, to)
    // Compressed pixels have no page of zeros.
    if (this.#isPlain || (!page && (!all || length < ROOM))) {
      this.#isLit ||= !all
      if (page) this.#dark ??= this.#part('unwritten', name, from, to, 'zeros')
      return part(isBeyond || (!isStated && needed === null) ? 'length' : undefined)
    }
    return part('unwritten')
  }

  async #hasNumbers(entry: Entry | undefined): Promise<boolean> {
    for await (const number of this.#tiff.numbersOf(entry)) {
      if (number > 0) return true
      if (++this.#walked > MOST_PIECES) break
    }
    return false
  }
}

const STOPS = new Set<FlawCode | undefined>(['cut', 'unwritten'])
const JPEG_AT = 513
/** The kinds of pieces, by the tag that says where they are. */
const KINDS = new Map([
  [273, 'strip'],
  [324, 'tile'],
])

/** What a directory says of its pixels. `row`, `tile`: bytes, uncompressed. `rows`: of a strip. */
interface Layout {
  height: number
  /** Whether the length of a strip or tile can be computed. */
  isKnown: boolean
  row: number
  rows: number
  tile: number
}

function lengthOfPiece(
  { isKnown, height, row, rows, tile }: Layout,
  kind: string,
  piece: number,
): number | null {
  if (!isKnown || kind === 'JPEG') return null
  return kind === 'tile' ? tile : row * Math.min(rows, height - (piece % Math.ceil(height / rows)) * rows)
}
