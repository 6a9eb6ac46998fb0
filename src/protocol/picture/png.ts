import { Readable } from 'node:stream'
import { crc32, createInflate, createInflateRaw } from 'node:zlib'
import { ByteReader, type ByteSource } from './byte-reader.ts'
import { type FlawCode, flawed, type Part, type Role, type Walk } from './part.ts'
import { walkRest, ZeroPages } from './zeros.ts'

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
    const chunk = await chunkAt(reader, at)
    if (!chunk) return yield await noChunk(reader, at, pixels)
    const { type, to } = chunk
    await pixels.take(reader, type, at)
    const part: Part = { role: roleOf(type), name: type, from: at, to, by: 'checksum' }
    yield flawed(part, await flawOf(reader, part, pixels), `chunk ${type}`)
    if (type === 'IEND') return yield* walkRest(reader, to)
    at = to
  }
}

async function flawOf(
  reader: ByteReader,
  { role, from, to }: Part,
  pixels: Pixels,
): Promise<FlawCode | null> {
  const right = await hasRightSum(reader, from, to)
  if (right === null) return 'cut'
  if (right && role === 'end' && !pixels.begun) return 'no_pixels'
  if (right) return role === 'end' && pixels.lacksFrames ? 'announced' : null
  if (role === 'image') return (await pixels.areWhole()) ? 'one_checksum' : 'checksum'
  // Programs show a picture whose metadata are broken, and so will stay; zeros say that a writer is still to come.
  return role === 'metadata' && !(await new ZeroPages(reader).take(from, to)).page ? 'stray' : 'checksum'
}

/** What stands where a chunk should begin. When the pixels are all there, only the end mark is missing. */
async function noChunk(reader: ByteReader, from: number, pixels: Pixels): Promise<Part> {
  const rest = (code: FlawCode): Part =>
    flawed(
      { role: code === 'unwritten' ? code : 'stray', name: 'rest', from, to: Math.max(from, reader.size) },
      code,
      pixels.begun ? 'chunk IEND' : 'chunk IDAT',
      from,
    )
  const head = await reader.bytes(from, CHUNK_HEAD)
  // A chunk may begin with zeros, those of its length; its type has none.
  if (head?.subarray(4, CHUNK_HEAD).includes(0)) return rest('unwritten')
  if (!head && from < reader.size) return rest('cut')
  if (!pixels.lacksFrames && (await pixels.areWhole())) return rest('no_end')
  return rest(head ? 'broken' : 'cut')
}

/** The chunk that begins here: its type is four letters, the third a capital. Null: none does. */
async function chunkAt(reader: ByteReader, at: number): Promise<{ type: string; to: number } | null> {
  const head = await reader.bytes(at, CHUNK_HEAD)
  const type = head?.toString('latin1', 4, CHUNK_HEAD) ?? ''
  const length = head?.readUInt32BE(0) ?? 0
  if (!/^[a-zA-Z]{2}[A-Z][a-zA-Z]$/.test(type) || length > LONGEST) return null
  return { type, to: at + CHUNK_HEAD + length + CHUNK_FOOT }
}

function roleOf(type: string): Role {
  if (type === 'IEND') return 'end'
  if (PIXELS.has(type)) return 'image'
  return /^[A-Z]/.test(type) || NEEDED.has(type) ? 'header' : 'metadata'
}

/** Whether the chunk's check sum is that of its type and data. Null: the source ends earlier. */
async function hasRightSum(reader: ByteReader, at: number, to: number): Promise<boolean | null> {
  if (to > reader.size) return null
  let sum = 0
  for await (const piece of reader.pieces(at + 4, to - CHUNK_FOOT)) sum = crc32(piece, sum)
  const stated = await reader.bytes(to - CHUNK_FOOT, CHUNK_FOOT)
  return stated && stated.readUInt32BE(0) === sum
}

/** So many bytes of pixels are inflated to settle a doubt; beyond that the doubt stays. */
const MOST_INFLATED = 2 ** 31

/** The pixels of the frame that is walked through: a PNG has one, an animated one several. Each is one zlib stream, which
 * chunks of the same type hold, and which has a check sum of its own. */
class Pixels {
  readonly #source: ByteSource
  #isRaw = false
  /** Where the frame's first chunk with pixels begins. 0: not yet. */
  #frame = 0
  #frames = 0
  #announced = 0
  /** The one frame that was inflated: a file in which a second is in doubt stays in doubt. */
  #settled: { frame: number; isWhole: boolean } | null = null
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
    if (type === 'acTL') this.#announced = (await reader.bytes(at + CHUNK_HEAD, 4))?.readUInt32BE(0) ?? 0
    if (type === 'fcTL') {
      this.#frames++
      this.#frame = 0
    }
    if (!PIXELS.has(type)) return
    this.begun = true
    this.#frame ||= at
  }

  /** Whether the frame's stream comes to its end, with the right check sum. */
  async areWhole(): Promise<boolean> {
    const frame = this.#frame
    if (frame === 0) return false
    this.#settled ??= { frame, isWhole: await this.#inflates() }
    return this.#settled.frame === frame && this.#settled.isWhole
  }

  async #inflates(): Promise<boolean> {
    const inflate = this.#isRaw ? createInflateRaw() : createInflate()
    const input = Readable.from(this.#stream(), { highWaterMark: 1 })
    input.once('error', error => inflate.destroy(error))
    let length = 0
    try {
      for await (const piece of input.pipe(inflate)) {
        length += (piece as Buffer).byteLength
        if (length > MOST_INFLATED) return false
      }
      return length > 0
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
    const first = await chunkAt(reader, this.#frame)
    let from = this.#frame
    for (let chunk = first; chunk && chunk.type === first?.type; chunk = await chunkAt(reader, from)) {
      // Further frames have a number before their data.
      const data = from + CHUNK_HEAD + (chunk.type === 'fdAT' ? 4 : 0)
      for await (const piece of reader.pieces(data, chunk.to - CHUNK_FOOT)) yield Buffer.from(piece)
      from = chunk.to
    }
  }
}
