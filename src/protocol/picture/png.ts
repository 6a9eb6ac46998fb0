import { pipeline } from 'node:stream/promises'
import { crc32, createInflate } from 'node:zlib'
import { ByteReader, type ByteSource } from '../byte-reader.ts'
import { type FlawCode, flawed, type Part, type Role, type Walk } from './part.ts'
import { walkRest, Zeros } from './zeros.ts'

export const SIGNATURE = 8
/** Length and type before a chunk's data, the check sum behind. In WebP, too, so many bytes stand before. */
export const CHUNK_HEAD = 8
const CHUNK_FOOT = 4

const PIXELS = new Set(['IDAT', 'fdAT'])
/** What the pixels need, though the type says that a program may skip it: transparency, and the frames of an animation. */
const NEEDED = new Set(['tRNS', 'acTL', 'fcTL'])

/** What the chunks so far say. */
interface Seen {
  /** Where the pixels begin. 0: not yet. */
  pixels: number
  /** The pixels inflate to their end, whose check sum is right; asked once, where there is a doubt. */
  areWhole?: Promise<boolean>
  isAnimated: boolean
}

/** A PNG consists of chunks, each with a check sum, and ends with the chunk IEND. */
export const walkPng: Walk = async function* (reader) {
  const seen: Seen = { pixels: 0, isAnimated: false }
  for (let at = SIGNATURE; ; ) {
    const chunk = await chunkAt(reader, at)
    if (!chunk) return yield await noChunk(reader, at, seen)
    const { type, to } = chunk
    if (type === 'acTL') seen.isAnimated = true
    if (type === 'IDAT') seen.pixels ||= at
    const part: Part = { role: roleOf(type), name: type, from: at, to, by: 'checksum' }
    if (type === 'eXIf') part.exif = at + CHUNK_HEAD
    yield flawed(part, await flawOf(reader, part, seen), `chunk ${type}`)
    if (type === 'IEND') return yield* walkRest(reader, to)
    at = to
  }
}

async function flawOf(
  reader: ByteReader,
  { role, name, from, to }: Part,
  seen: Seen,
): Promise<FlawCode | null> {
  if (to > reader.size) return 'cut'
  let sum = 0
  for await (const piece of reader.pieces(from + 4, to - CHUNK_FOOT)) sum = crc32(piece, sum)
  const foot = await reader.bytes(to - CHUNK_FOOT, CHUNK_FOOT)
  if (foot === null) return 'cut'
  if (foot.readUInt32BE(0) === sum) return role === 'end' && seen.pixels === 0 ? 'no_pixels' : null
  if (role === 'image') return name === 'IDAT' && (await areWhole(reader, seen)) ? 'one_checksum' : 'checksum'
  // Programs show a picture whose metadata are broken, and so will stay; zeros say that a writer is still to come.
  const { row } = await new Zeros().within(reader, from, to)
  return role === 'metadata' && row === null ? 'stray' : 'checksum'
}

/** What stands where a chunk should begin. When the pixels are all there, only the end mark is missing. */
async function noChunk(reader: ByteReader, from: number, seen: Seen): Promise<Part> {
  const rest: Part = { role: 'stray', name: 'rest', from, to: Math.max(from, reader.size) }
  const next = `chunk ${seen.pixels > 0 ? 'IEND' : 'IDAT'}`
  const head = await reader.bytes(from, CHUNK_HEAD)
  // A chunk may begin with zeros, those of its length; its type has none.
  const isRoom = head?.subarray(4, CHUNK_HEAD).includes(0)
  if (isRoom) return flawed({ ...rest, role: 'unwritten' }, 'unwritten', 'next chunk')
  if (!head && from < reader.size) return flawed(rest, 'cut', next)
  if (!seen.isAnimated && (await areWhole(reader, seen))) return flawed(rest, 'no_end', next)
  return flawed(rest, head ? 'broken' : 'cut', next)
}

/** The chunk that begins here: its type is four letters, the third a capital. Null: none does. */
async function chunkAt(reader: ByteReader, at: number): Promise<{ type: string; to: number } | null> {
  const head = await reader.bytes(at, CHUNK_HEAD)
  const type = head?.toString('latin1', 4, CHUNK_HEAD) ?? ''
  const length = head?.readUInt32BE(0) ?? 0
  const to = at + CHUNK_HEAD + length + CHUNK_FOOT
  return /^[a-zA-Z]{2}[A-Z][a-zA-Z]$/.test(type) ? { type, to } : null
}

function roleOf(type: string): Role {
  if (type === 'IEND') return 'end'
  if (PIXELS.has(type)) return 'image'
  return /^[A-Z]/.test(type) || NEEDED.has(type) ? 'header' : 'metadata'
}

/** So many bytes of pixels are inflated to settle a doubt; beyond that the doubt stays. */
const MOST_INFLATED = 2 ** 31

/** Whether the pixels of the picture, or of an animation's first frame, come to their end: one zlib stream with a check sum of
 * its own, whatever chunks it is split into. */
function areWhole({ source }: ByteReader, seen: Seen): Promise<boolean> {
  seen.areWhole ??= inflates(pixelsFrom(source, seen.pixels))
  return seen.areWhole
}

async function inflates(stream: AsyncIterable<Buffer>): Promise<boolean> {
  let length = 0
  try {
    await pipeline(stream, createInflate(), async pieces => {
      for await (const { byteLength } of pieces) {
        length += byteLength
        if (length > MOST_INFLATED) break
      }
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code?.startsWith('Z_')) return false
    // The stream may end before the chunks do.
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
  return length > 0 && length <= MOST_INFLATED
}

/** The data of the chunks from this one on, copied, because zlib reads a piece while the next one is read. */
async function* pixelsFrom(source: ByteSource, from: number): AsyncGenerator<Buffer, void> {
  const reader = new ByteReader(source)
  let at = from
  for (let chunk = await chunkAt(reader, at); chunk?.type === 'IDAT'; chunk = await chunkAt(reader, at)) {
    for await (const piece of reader.pieces(at + CHUNK_HEAD, chunk.to - CHUNK_FOOT)) yield Buffer.from(piece)
    at = chunk.to
  }
}
