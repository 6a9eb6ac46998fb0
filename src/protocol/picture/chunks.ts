import { type ByteReader, PAGE, type Size } from './byte-reader.ts'
import { BLANK, broken, cut, type Ending, endingAt, endingOfLength, UNCLEAR } from './ending.ts'

const SIGNATURE_LENGTH = 8
/** The bytes of a chunk besides its data: length and type before the data, the checksum behind. */
const AROUND_DATA = 12
const IEND_CHECK = 0xae426082
const LONGEST = 2 ** 31 - 1
/** Chunks that hold compressed pixels. */
const PNG_PIXELS = new Set(['IDAT', 'fdAT'])

/** A PNG ends with its chunk IEND. */
export async function pngEnding(reader: ByteReader): Promise<Ending> {
  let blank = false
  for (let offset = SIGNATURE_LENGTH; ; ) {
    const head = await reader.bytes(offset, 8)
    if (head === null) return cut('its last chunk, IEND, is missing')
    const length = head.readUInt32BE(0)
    if (length > LONGEST || !isType(head)) return broken(offset)
    const type = head.toString('latin1', 4, 8)
    const end = offset + AROUND_DATA + length
    // A complete IEND always has the same checksum, which is the last thing that a writer writes.
    if (type === 'IEND' && (await reader.bytes(end - 4, 4))?.readUInt32BE(0) !== IEND_CHECK)
      return cut('its last chunk, IEND, is cut off')
    if (type === 'IEND' && blank) return BLANK
    if (type === 'IEND' || end > reader.size) return endingAt(end, reader.size, `its chunk ${type}`)
    blank ||= PNG_PIXELS.has(type) && (await reader.hasBlankPage(offset, end))
    offset = end
  }
}

/** Whether the chunk's type consists of four letters. A chunk that its writer has not filled yet has zeros there. */
function isType(head: Buffer): boolean {
  for (let at = 4; at < 8; at++) {
    const letter = head[at]! & ~0x20
    if (letter < 0x41 || letter > 0x5a) return false
  }
  return true
}

const RIFF_HEAD = 8
const FIRST_CHUNK = 12
const CHUNK_HEAD = 8
/** Chunks that hold compressed pixels. */
const WEBP_PIXELS = new Set(['VP8 ', 'VP8L', 'ALPH', 'ANMF'])

/** A WebP's RIFF header states its length, and its chunks fill this length. */
export async function webpEnding(reader: ByteReader): Promise<Ending> {
  const head = await reader.bytes(0, FIRST_CHUNK)
  if (head === null) return cut('its header is missing')
  const end = RIFF_HEAD + head.readUInt32LE(4)
  if (end < FIRST_CHUNK + CHUNK_HEAD) return cut('its length is not written')
  if (end > reader.size) return endingOfLength(reader, end, 'it')
  let name = ''
  let blank = false
  let offset = FIRST_CHUNK
  while (offset + CHUNK_HEAD <= end) {
    const chunk = await reader.bytes(offset, CHUNK_HEAD)
    if (chunk === null || chunk.readUInt32BE(0) === 0) return broken(offset)
    name = chunk.toString('latin1', 0, 4)
    const length = chunk.readUInt32LE(4)
    const from = offset
    offset += CHUNK_HEAD + length + (length % 2)
    blank ||= WEBP_PIXELS.has(name) && (await reader.hasBlankPage(from, Math.min(offset, end)))
  }
  // Some writers leave out the padding of a last chunk of odd length.
  if (offset > end + 1) return cut(`its chunk ${name.trim()} goes on behind its end`)
  // Compressed pixels never end with a page of zeros. So the writer has reserved the room and not written it.
  if (WEBP_PIXELS.has(name) && (await reader.zerosAtEnd()) >= PAGE) return cut('its end is only zeros')
  return blank ? BLANK : endingOfLength(reader, end, 'it')
}

const FILE_HEADER = 14
/** Bytes of the oldest picture header, OS/2's. In this header a dimension has 16 bits; in later headers 32. */
const CORE_HEADER = 12
/** Bytes of the file header and the first 40 bytes of the picture header. */
const HEADERS = 54
/** The compression numbers of uncompressed pixels: BI_RGB, BI_BITFIELDS, BI_ALPHABITFIELDS. */
const PLAIN = new Set([0, 3, 6])

/** The size of a BMP. A negative height says that the rows are stored from the top. */
export function bmpSize(head: Buffer): Size | null {
  if (head.byteLength < FILE_HEADER + CORE_HEADER) return null
  if (isCore(head)) return { width: head.readUInt16LE(18), height: head.readUInt16LE(20) }
  return { width: head.readInt32LE(18), height: Math.abs(head.readInt32LE(22)) }
}

function isCore(head: Buffer): boolean {
  return head.readUInt32LE(FILE_HEADER) === CORE_HEADER
}

/** A BMP's header states its length. An uncompressed BMP also reaches at least to the end of its pixels. */
export async function bmpEnding(reader: ByteReader): Promise<Ending> {
  const head = (await reader.bytes(0, HEADERS)) ?? (await reader.bytes(0, FILE_HEADER + CORE_HEADER))
  if (head === null) return cut('its header is missing')
  // Some writers write zero as the declared length, so the end of the pixels is asked too.
  const end = Math.max(head.readUInt32LE(2), endOfPixels(head))
  return end < FILE_HEADER + CORE_HEADER ? UNCLEAR : endingOfLength(reader, end, 'it')
}

/** The offset behind the pixels, whose rows are padded to four bytes; zero when they are compressed. */
function endOfPixels(head: Buffer): number {
  const core = isCore(head)
  const plain = core || (head.byteLength >= HEADERS && PLAIN.has(head.readUInt32LE(30)))
  if (!plain) return 0
  const { width, height } = bmpSize(head)!
  const bitsPerPixel = head.readUInt16LE(core ? 24 : 28)
  const row = 4 * Math.ceil((width * bitsPerPixel) / 32)
  return head.readUInt32LE(10) + row * height
}

const HEADER_LENGTH = 6
const ENTRY_LENGTH = 16

/** An ICO ends where the last image of its directory ends. */
export async function icoEnding(reader: ByteReader): Promise<Ending> {
  const count = (await reader.bytes(0, HEADER_LENGTH))?.readUInt16LE(4) ?? 0
  let end = HEADER_LENGTH + count * ENTRY_LENGTH
  for (let index = 0; index < count; index++) {
    const at = HEADER_LENGTH + index * ENTRY_LENGTH
    const entry = await reader.bytes(at, ENTRY_LENGTH)
    if (entry === null) return cut('its directory is cut off')
    const [length, offset] = [entry.readUInt32LE(8), entry.readUInt32LE(12)]
    if (length === 0 || offset === 0) return cut(`its directory does not say where image ${index + 1} is`)
    end = Math.max(end, offset + length)
  }
  return endingOfLength(reader, end, 'its last image')
}

const SCREEN_LENGTH = 13
const TRAILER = 0x3b
const EXTENSION = 0x21
const IMAGE = 0x2c
/** A zero between blocks. Some writers leave such zeros, and decoders skip them. */
const STRAY = 0
const BLOCKS = new Set([EXTENSION, IMAGE, STRAY])

/** A GIF ends with its trailer, one byte that follows its blocks. */
export async function gifEnding(reader: ByteReader): Promise<Ending> {
  const screen = await reader.bytes(0, SCREEN_LENGTH)
  if (screen === null) return cut('its header is missing')
  for (let offset = SCREEN_LENGTH + tableLength(screen[10]!); ; ) {
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
  // An image block: descriptor, colour table, one byte for the code size, then the parts with the data.
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
