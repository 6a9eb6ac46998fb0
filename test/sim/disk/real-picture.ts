import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { type PictureReader, pictureReader } from '../../../src/protocol/likeness/likeness.ts'
import { imageData } from '../../../src/protocol/picture/image-data.ts'
import { bytes, exif, le16 } from '../../protocol/bytes.ts'
import { drawn, RECODED, segment, TABLES } from '../../protocol/jpeg/jpegs.ts'
import { PACKED } from '../host/alterations.ts'
import { isBare, readTiny, trailerOf } from './tiny-picture.ts'

/*
 * The picture that a tiny one stands for: a real one, so that what compares real pictures compares these. There are few,
 * and each is made once.
 */

const made = new Map<string, Buffer | null>()

/** Null: it is none, or an SVG, which is told by all its bytes. */
export function realOf(tiny: Uint8Array): Buffer | null {
  const all = Buffer.from(tiny.buffer, tiny.byteOffset, tiny.byteLength)
  const trailer = trailerOf(all)
  const key = `${all.toString('hex', 0, 12)} ${isBare(all.length)} ${trailer}`
  if (!made.has(key)) {
    const whole = make(all)
    made.set(key, whole && bytes(whole, Buffer.alloc(trailer, 9)))
  }
  return made.get(key)!
}

function make(tiny: Buffer): Buffer | null {
  const picture = readTiny(tiny)
  if (picture === null || picture.width === null || picture.height === null) return null
  const { width, height, turned } = picture
  // What is half written is another picture than the whole.
  const number = (tiny.readUInt32LE(8) ^ (tiny[3]! << 24)) >>> 0
  const note = isBare(tiny.length) ? null : `picture ${number}`
  if (picture.format === 'gif') {
    const screen = bytes('GIF89a', le16(width), le16(height), 0x80, 0, 0, Buffer.alloc(6, 9))
    const comment = note === null ? '' : bytes(0x21, 0xfe, note.length, note, 0)
    const place = bytes(0x2c, le16(0), le16(0), le16(width), le16(height), 0)
    return bytes(screen, comment, place, 2, 4, tiny.subarray(8, 12), 0, ';')
  }
  const isPacked = (number & PACKED) !== 0 && number >>> 31 === 0
  const metadata = bytes(turned ? exif(6) : '', note === null ? '' : segment(0xfe, note))
  return drawn({
    width,
    height,
    seed: isPacked ? number ^ PACKED : number,
    isRecoded: isPacked,
    tables: isPacked ? RECODED : TABLES,
    before: metadata,
  })
}

export const tinyReader: PictureReader = {
  async data(format, source) {
    const tiny = await source.read(0, source.size)
    const real = readTiny(tiny)?.format === format ? realOf(tiny) : null
    // Read each time: what is remembered takes fewer turns, and so a history would go otherwise the second time.
    return real && imageData(format, sourceOfBytes(real))
  },
  async pixels(format, source) {
    const real = realOf(await source.read(0, source.size))
    return real && pictureReader.pixels(format, sourceOfBytes(real))
  },
}
