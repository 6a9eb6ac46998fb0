import { Readable } from 'node:stream'
import { crc32, createInflate, createInflateRaw } from 'node:zlib'
import { ByteReader, type ByteSource } from './byte-reader.ts'
import { FLAWS, type FlawCode, type Part, type Role, type Walk } from './part.ts'
import { endOfZeros, walkRest, ZeroPages } from './zeros.ts'

const SIGNATURE = 8
/** Length and type before a chunk's data, the check sum behind. */
const CHUNK_HEAD = 8
const CHUNK_FOOT = 4
const LONGEST = 2 ** 31 - 1

const PIXELS = new Set(['IDAT', 'fdAT'])
/** What the pixels need, though the type says that a program may skip it: transparency, and the frames of an animation. */
const NEEDED = new Set(['tRNS', 'acTL', 'fcTL'])

/** A PNG consists of chunks, each with a check sum, and ends with the chunk IEND. */
export const walkPng: Walk = async function* (reader) {
  const pixels = new Pixels(reader.source)
  for (let at = SIGNATURE; ; ) {
    const head = await reader.bytes(at, CHUNK_HEAD)
    const type = head && typeOf(head)
    if (!type) return yield* walkNoChunk(reader, at, pixels)
    const to = at + CHUNK_HEAD + head.readUInt32BE(0) + CHUNK_FOOT
    if (to <= reader.size) await pixels.take(reader, type, at)
    const code = to > reader.size ? 'cut' : await flawOf(reader, type, at, to, pixels)
    const flaw = code && { code, part: `chunk ${type}`, at: Math.min(code === 'cut' ? to : at, reader.size) }
    yield { role: roleOf(type), name: type, from: at, to, by: 'checksum', ...(flaw && { flaw }) }
    if (code && FLAWS[code] === 'missing') return
    if (type === 'IEND') return yield* walkRest(reader, to)
    at = to
  }
}

async function flawOf(
  reader: ByteReader,
  type: string,
  at: number,
  to: number,
  pixels: Pixels,
): Promise<FlawCode | null> {
  const right = await hasRightSum(reader, at, to)
  if (right === null) return 'cut'
  if (type === 'IEND' && right && !pixels.begun) return 'no_pixels'
  if (type === 'IEND' && right && pixels.lacksFrames) return 'announced'
  if (right) return null
  const role = roleOf(type)
  if (role === 'image') return (await pixels.areWhole()) ? 'one_checksum' : 'checksum'
  // Programs show a picture whose metadata are broken, and so will stay; zeros say that a writer is still to come.
  return role === 'metadata' && !(await new ZeroPages(reader).take(at, to)).page ? 'stray' : 'checksum'
}

/** What stands where a chunk should begin. When the pixels are all there, only the end mark is missing. */
async function* walkNoChunk(reader: ByteReader, at: number, pixels: Pixels): AsyncGenerator<Part, void> {
  const { size } = reader
  const zeros = (await endOfZeros(reader, at)) - at
  const flawed = (code: FlawCode): Part => ({
    ...{ role: code === 'unwritten' ? code : 'stray', name: 'rest', from: at, to: Math.max(at, size) },
    flaw: { code, part: pixels.begun ? 'chunk IEND' : 'chunk IDAT', at },
  })
  // A chunk may begin with zeros, those of its length; its type has none.
  const head = await reader.bytes(at, CHUNK_HEAD)
  if (zeros >= CHUNK_HEAD || head?.subarray(4, CHUNK_HEAD).includes(0)) return yield flawed('unwritten')
  if (size > at && size < at + CHUNK_HEAD) return yield flawed('cut')
  if (pixels.begun && !pixels.lacksFrames && (await pixels.areWhole())) return yield flawed('no_end')
  yield flawed(size > at ? 'broken' : 'cut')
}

/** The chunk's type, four letters, the third a capital. Null: no chunk begins with these bytes. */
function typeOf(head: Buffer): string | null {
  const type = head.toString('latin1', 4, CHUNK_HEAD)
  return /^[a-zA-Z]{2}[A-Z][a-zA-Z]$/.test(type) && head.readUInt32BE(0) <= LONGEST ? type : null
}

function roleOf(type: string): Role {
  if (type === 'IEND') return 'end'
  if (PIXELS.has(type)) return 'image'
  return /^[A-Z]/.test(type) || NEEDED.has(type) ? 'header' : 'metadata'
}

/** Whether the chunk's check sum is that of its type and data. Null: the source ends earlier. */
async function hasRightSum(reader: ByteReader, at: number, to: number): Promise<boolean | null> {
  let sum = 0
  for await (const piece of reader.pieces(at + 4, to - CHUNK_FOOT)) sum = crc32(piece, sum)
  const stated = await reader.bytes(to - CHUNK_FOOT, CHUNK_FOOT)
  return stated && stated.readUInt32BE(0) === sum
}

/** The start of the seven passes of interlaced pixels, and the steps in them: x, y, step of x, step of y. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const
const ONE_PASS = [[0, 0, 1, 1]] as const
/** Samples of a pixel, by the colour type. */
const SAMPLES = [1, 0, 3, 1, 2, 0, 4]
/** So many bytes of pixels are inflated to settle a doubt; beyond that the doubt stays. */
const MOST_INFLATED = 2 ** 31

/** The pixels of the frame that is walked through: a PNG has one, an animated one several. Each is one zlib stream, which
 * chunks of the same type hold, and which has a check sum of its own. */
class Pixels {
  readonly #source: ByteSource
  #isRaw = false
  #bits = 0
  #passes: readonly (readonly number[])[] = ONE_PASS
  #frame = { at: 0, width: 0, height: 0 }
  #frames = 0
  #announced = 0
  #known = new Map<number, boolean>()
  #mayInflate = MOST_INFLATED
  begun = false

  constructor(source: ByteSource) {
    this.#source = source
  }

  get lacksFrames(): boolean {
    return this.#frames < this.#announced
  }

  /** Remembers what a chunk says about the pixels. */
  async take(reader: ByteReader, type: string, at: number): Promise<void> {
    // Apple's own kind of PNG holds deflated data without the header of zlib, and without its check sum.
    if (type === 'CgBI') this.#isRaw = true
    if (PIXELS.has(type)) {
      this.begun = true
      this.#frame.at ||= at
    }
    if (type !== 'IHDR' && type !== 'fcTL' && type !== 'acTL') return
    const data = (await reader.bytes(at + CHUNK_HEAD, 13))?.subarray(0, 13)
    if (!data) return
    if (type === 'acTL') this.#announced = data.readUInt32BE(0)
    if (type === 'fcTL') this.#frames++
    if (type === 'fcTL') this.#frame = { at: 0, width: data.readUInt32BE(4), height: data.readUInt32BE(8) }
    if (type !== 'IHDR') return
    this.#frame = { at: 0, width: data.readUInt32BE(0), height: data.readUInt32BE(4) }
    this.#bits = data[8]! * (SAMPLES[data[9]!] ?? 0)
    this.#passes = data[12] ? PASSES : ONE_PASS
  }

  /** Whether the frame's stream is whole: its check sum is right, and it has all rows. Without check sums: never known. */
  async areWhole(): Promise<boolean> {
    const { at } = this.#frame
    const known = this.#known.get(at) ?? (at > 0 && (await this.#inflates()))
    this.#known.clear()
    this.#known.set(at, known)
    return known
  }

  async #inflates(): Promise<boolean> {
    const { width, height } = this.#frame
    let wanted = 0
    for (const [x, y, right, down] of this.#passes) {
      const columns = Math.ceil((width - x!) / right!)
      const rows = Math.ceil((height - y!) / down!)
      if (columns > 0 && rows > 0) wanted += rows * (1 + Math.ceil((columns * this.#bits) / 8))
    }
    this.#mayInflate -= wanted
    if (wanted === 0 || this.#mayInflate < 0) return false
    const inflate = this.#isRaw ? createInflateRaw() : createInflate()
    const input = Readable.from(this.#stream(), { highWaterMark: 1 })
    input.once('error', error => inflate.destroy(error))
    let length = 0
    try {
      for await (const piece of input.pipe(inflate)) {
        length += (piece as Buffer).byteLength
        if (length > wanted + SPARE) return false
      }
      return length >= wanted
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) return false
      throw error
    } finally {
      input.destroy()
    }
  }

  /** The data of the frame's chunks, copied, because zlib reads a piece while the next one is read. */
  async *#stream(): AsyncGenerator<Buffer, void> {
    const reader = new ByteReader(this.#source)
    let first: string | null = null
    for (let at = this.#frame.at; ; ) {
      const head = await reader.bytes(at, CHUNK_HEAD)
      const type = head && typeOf(head)
      first ??= type
      if (!type || type !== first) return
      const from = at + CHUNK_HEAD
      const to = from + head.readUInt32BE(0)
      for await (const piece of reader.pieces(type === 'fdAT' ? from + 4 : from, to)) yield Buffer.from(piece)
      at = to + CHUNK_FOOT
    }
  }
}

/** Some writers pad the pixels of the last row. */
const SPARE = 64 * 1024
