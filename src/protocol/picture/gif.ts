import type { ByteReader } from '../byte-reader.ts'
import { type FlawCode, flawed, type Part, type Walk } from './part.ts'
import { endOfZeros, ROOM, walkRest, Zeros } from './zeros.ts'

const SCREEN = 13
const TRAILER = 0x3b
const EXTENSION = 0x21
const IMAGE = 0x2c
/** The extension that says how the next image is shown, so an image follows. */
const CONTROL = 0xf9
const ANNOUNCEMENT = 'control extension'
const PLAIN_TEXT = 0x01
const DESCRIPTOR = 10
/** The extension of a program, and those that say how often the picture repeats. */
const APPLICATION = 0xff
const REPEATS = ['NETSCAPE2.0', 'ANIMEXTS1.0']
const PROFILE = 'ICCRGBG1012'
/** Where an application's extension has its name, and its data. */
const [NAME, DATA] = [3, 14]

/** A GIF is a sequence of blocks, and ends with its trailer, one byte. */
export const walkGif: Walk = async function* (reader) {
  const screen = await reader.slice(0, SCREEN)
  const header: Part = { role: 'header', name: 'header', from: 0, to: SCREEN + tableLength(screen[10]) }
  yield flawed(header, header.to > reader.size && 'cut')
  let [nth, announced] = [1, false]
  for (let at = header.to; ; ) {
    const part = (await blockAt(reader, at, nth)) ?? (await noBlock(reader, at, nth, announced))
    yield part
    if (part.role === 'end') return yield* walkRest(reader, part.to)
    if (part.name === 'rest') return
    nth += Number(part.role === 'image')
    announced = part.role !== 'image' && (announced || part.name === ANNOUNCEMENT)
    at = part.to
  }
}

/** The extension, or the `nth` image, at this offset. Null: something else. */
async function blockAt(reader: ByteReader, from: number, nth: number): Promise<Part | null> {
  const head = await reader.slice(from, Math.min(reader.size, from + DATA))
  const [introducer, label] = head
  if (introducer !== EXTENSION && introducer !== IMAGE) return null
  const isImage = introducer === IMAGE
  // Before an image's data stands the size of their codes.
  const data = isImage ? DESCRIPTOR + tableLength(head[9]) + 1 : 2
  const to = await endOfBlocks(reader, from + data)
  const application = label === APPLICATION ? head.toString('latin1', NAME, DATA) : ''
  const repeats = REPEATS.includes(application)
  const role = isImage
    ? 'image'
    : repeats || label === CONTROL || label === PLAIN_TEXT
      ? 'header'
      : 'metadata'
  const name = isImage ? `image ${nth}` : repeats ? 'repeats' : label === CONTROL ? ANNOUNCEMENT : 'extension'
  const part: Part = { role, name, from, to: to ?? Math.max(from, reader.size) }
  if (application === PROFILE) part.profile = from + DATA
  return flawed(part, to === null && 'cut')
}

/** The trailer, or what stands where a block should begin. `announced`: the `nth` image follows. */
async function noBlock(reader: ByteReader, from: number, nth: number, announced: boolean): Promise<Part> {
  const { size } = reader
  const next = `image ${nth}`
  const rest = (code: FlawCode, named: string, at?: number) =>
    flawed({ role: 'stray', name: 'rest', from, to: Math.max(from, size) }, code, named, at)
  const zeros = (await endOfZeros(reader, from)) - from
  // Some writers leave a few zeros between blocks, and decoders skip them.
  if (zeros > 0 && zeros < ROOM && from + zeros < size)
    return { role: 'stray', name: 'padding', from, to: from + zeros }
  if (zeros > 0) return { ...rest('unwritten', 'rest'), role: 'unwritten' }
  if (nth === 1) return rest(from < size ? 'broken' : 'no_pixels', next)
  const [first] = await reader.slice(from, from + 1)
  if (first === TRAILER) return { role: 'end', name: 'trailer', from, to: from + 1 }
  const { row } = await new Zeros().within(reader, from, size)
  if (row !== null) return rest('unwritten', 'rest', row)
  if (size - from < ROOM) return announced ? rest('cut', next) : rest('no_end', 'trailer')
  // Decoders show what came before. A writer that had not finished would not have written the trailer.
  const [last] = await reader.slice(size - 1, size)
  return last === TRAILER ? rest('stray', 'block') : rest('broken', 'block')
}

/** The length of the colour table in bytes, from the descriptor's field that packs flags and the table's size. */
function tableLength(packed = 0): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
}

/** The offset behind the data blocks, each after its length in one byte; an empty one ends them. Null: the source ends before. */
async function endOfBlocks(reader: ByteReader, from: number): Promise<number | null> {
  for (let start = from; ; ) {
    const bytes = await reader.bytes(start, 1)
    if (bytes === null) return null
    let at = 0
    while (at < bytes.byteLength && bytes[at] !== 0) at += 1 + bytes[at]!
    start += at
    if (at < bytes.byteLength) return start + 1
  }
}
