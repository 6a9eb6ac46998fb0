import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import type { ByteSource } from '../byte-reader.ts'
import { DataFold } from '../picture/image-data.ts'
import { walkPng } from '../picture/png.ts'

/** The bytes of a chunk before its data (length and type) and behind it (check sum). */
const HEAD = 8
const FOOT = 4
/** The most bytes of pixels that are taken into memory. */
const MOST = 2 ** 28
/** How many numbers a pixel has, by the kind of colour (PNG, 11.2.2). */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const PALETTE = 3
const FULL = 0xffff

interface Header {
  width: number
  height: number
  depth: number
  colour: number
  channels: number
}

/** A digest of the pixels, each as four numbers of 16 bits. It does not depend on how they are packed, nor on the palette. Null:
 * an animation, interlaced, too large, or not whole. Holds the whole picture in memory. */
export async function pngPixels(source: ByteSource): Promise<Buffer | null> {
  const chunks: Record<'IHDR' | 'PLTE' | 'tRNS', Buffer> = { IHDR: NONE, PLTE: NONE, tRNS: NONE }
  const packed: Uint8Array[] = []
  const whole = await new DataFold(source).over(walkPng, async ({ name, from, to }, data) => {
    if (name === 'IDAT') packed.push(await source.read(from + HEAD, to - from - HEAD - FOOT))
    else if (name in chunks)
      chunks[name as keyof typeof chunks] = Buffer.from(await data.reader.slice(from + HEAD, to - FOOT))
    return name !== 'acTL' && name !== 'CgBI'
  })
  const header = whole && headerOf(chunks.IHDR)
  if (!header) return null
  const { width, height, channels, depth } = header
  const row = Math.ceil((width * channels * depth) / 8)
  if (height * (row + 1) > MOST) return null
  const raw = await unpacked(Buffer.concat(packed), height * (row + 1))
  if (raw === null) return null
  const sum = createHash('sha256').update(`${width}x${height}`)
  const toWide = widening(header, chunks.PLTE, chunks.tRNS)
  const step = Math.max(1, (channels * depth) >> 3)
  let above: Uint8Array = new Uint8Array(row)
  for (let y = 0; y < height; y++) {
    const line = raw.subarray(y * (row + 1) + 1, (y + 1) * (row + 1))
    unfilter(raw[y * (row + 1)]!, line, above, step)
    above = line
    sum.update(toWide(line))
  }
  return sum.digest()
}

const NONE: Buffer = Buffer.alloc(0)

function headerOf(data: Buffer): Header | null {
  if (data.byteLength < 13) return null
  const [depth, colour, interlace] = [data[8]!, data[9]!, data[12]!]
  const channels = CHANNELS[colour]
  if (interlace !== 0 || channels === undefined || ![1, 2, 4, 8, 16].includes(depth)) return null
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4), depth, colour, channels }
}

async function unpacked(packed: Buffer, length: number): Promise<Buffer | null> {
  try {
    const raw = await promisify(inflate)(packed, { maxOutputLength: Math.max(length, 1) })
    return raw.byteLength === length ? raw : null
  } catch {
    return null
  }
}

/** Undoes the filter of a row (PNG, 9.2). `step`: the bytes of a pixel. */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): void {
  for (let i = 0; i < line.length; i++) {
    const left = i >= step ? line[i - step]! : 0
    const up = above[i]!
    if (filter === 1) line[i]! += left
    else if (filter === 2) line[i]! += up
    else if (filter === 3) line[i]! += (left + up) >> 1
    else if (filter === 4) line[i]! += paeth(left, up, i >= step ? above[i - step]! : 0)
  }
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/** Writes a pixel as red, green, blue and alpha, of 16 bits each. `nth`: the pixel's place in its row. */
type Paint = (line: Uint8Array, nth: number, into: Uint16Array) => void

/** Returns a function that makes rows of such pixels. The colour of a pixel that can't be seen does not count. */
function widening(header: Header, palette: Buffer, transparent: Buffer) {
  const into = new Uint16Array(4 * header.width)
  const out = new Uint8Array(into.buffer)
  const paint = (header.colour === PALETTE ? painted : mixed)(header, palette, transparent)
  return (line: Uint8Array): Uint8Array => {
    for (let nth = 0; nth < header.width; nth++) {
      paint(line, nth, into)
      if (into[4 * nth + 3] === 0) into.fill(0, 4 * nth, 4 * nth + 3)
    }
    return out
  }
}

function painted({ depth }: Header, palette: Buffer, transparent: Buffer): Paint {
  const colours = new Uint16Array(4 * 256)
  for (let entry = 0; entry < 256; entry++) {
    for (const each of [0, 1, 2]) colours[4 * entry + each] = (palette[3 * entry + each] ?? 0) * 257
    colours[4 * entry + 3] = (transparent[entry] ?? 255) * 257
  }
  const at = numbers(depth)
  return (line, nth, into) => {
    const entry = 4 * at(line, nth)
    for (let each = 0; each < 4; each++) into[4 * nth + each] = colours[entry + each]!
  }
}

/** Pixels of grey, or of red, green and blue, with alpha or with one colour that can't be seen. */
function mixed({ depth, channels }: Header, _: Buffer, transparent: Buffer): Paint {
  const at = numbers(depth)
  const scale = FULL / (2 ** depth - 1)
  const [green, blue] = channels > 2 ? [1, 2] : [0, 0]
  const hasAlpha = channels % 2 === 0
  const clear = [0, 2 * green, 2 * blue].map(place =>
    place + 2 <= transparent.byteLength ? transparent.readUInt16BE(place) : -1,
  )
  return (line, nth, into) => {
    const from = nth * channels
    const [r, g, b] = [at(line, from), at(line, from + green), at(line, from + blue)]
    into[4 * nth] = r * scale
    into[4 * nth + 1] = g * scale
    into[4 * nth + 2] = b * scale
    const isClear = r === clear[0] && g === clear[1] && b === clear[2]
    into[4 * nth + 3] = hasAlpha ? at(line, from + channels - 1) * scale : isClear ? 0 : FULL
  }
}

/** Returns a function that reads the numbers of a row. `depth`: the bits of each. */
function numbers(depth: number): (line: Uint8Array, nth: number) => number {
  if (depth === 8) return (line, nth) => line[nth]!
  if (depth === 16) return (line, nth) => (line[2 * nth]! << 8) | line[2 * nth + 1]!
  const most = 2 ** depth - 1
  return (line, nth) => (line[(nth * depth) >> 3]! >> (8 - depth - ((nth * depth) & 7))) & most
}
