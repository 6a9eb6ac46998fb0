import type { ByteReader } from './byte-reader.ts'
import { broken, cut, type Ending, endingAt } from './ending.ts'

const HEADER_LENGTH = 13
const TRAILER = 0x3b
const EXTENSION = 0x21
const IMAGE = 0x2c
/** Some writers leave zeros between blocks. Decoders skip them. */
const STRAY = 0
const BLOCKS = new Set([EXTENSION, IMAGE, STRAY])

/** A GIF ends with its trailer, one byte behind its blocks. */
export async function gifEnding(reader: ByteReader): Promise<Ending> {
  const screen = await reader.bytes(0, HEADER_LENGTH)
  if (screen === null) return cut('its header is missing')
  for (let offset = HEADER_LENGTH + tableLength(screen[10]!); ; ) {
    const introducer = (await reader.bytes(offset, 1))?.[0]
    if (introducer === TRAILER) return endingAt(offset + 1, reader.size, 'its trailer')
    if (introducer === undefined) return cut('its trailer is missing')
    if (!BLOCKS.has(introducer)) return broken(offset)
    const end = await endOfBlock(reader, offset, introducer)
    if (end === null) return cut(`its block at byte ${offset} has no end`)
    offset = end
  }
}

async function endOfBlock(reader: ByteReader, offset: number, introducer: number): Promise<number | null> {
  if (introducer === STRAY) return endOfZeros(reader, offset)
  if (introducer === EXTENSION) return endOfParts(reader, offset + 2)
  // An image's data are behind its descriptor, its colour table and one byte for the code size.
  const descriptor = await reader.bytes(offset, 10)
  return descriptor && endOfParts(reader, offset + 10 + tableLength(descriptor[9]!) + 1)
}

async function endOfZeros(reader: ByteReader, from: number): Promise<number> {
  for (let offset = from; ; ) {
    const bytes = await reader.bytes(offset, 1)
    const at = bytes?.findIndex(byte => byte !== 0) ?? 0
    if (at >= 0) return offset + at
    offset += bytes!.byteLength
  }
}

/** The offset behind a block's parts. Each part has up to 255 bytes and comes after its length; length 0 ends the block. */
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

/** Bytes of the colour table that the packed field of a descriptor states. */
function tableLength(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
}
