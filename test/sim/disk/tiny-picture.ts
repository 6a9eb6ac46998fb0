import type { Verdict } from '../../../src/protocol/picture/part.ts'
import type { Picture } from '../../../src/protocol/picture/picture.ts'

/** Pictures of a few bytes, read by a function of their own: what is simulated is who has which, not formats. Where two of
 * them are compared, each stands for a real one (`real-picture.ts`). */
export interface TinyPicture {
  /** jpg: a JPEG that EXIF turns. jpe: any other. */
  format: 'gif' | 'svg' | 'jpg' | 'jpe'
  width: number
  height: number
  /** Tells it from others. */
  version: number
  /** Bytes; sizes from 1000 on are listed rounded (§2). */
  size: number
}

const HEAD = 12

export function bytesOf({ format, width, height, version, size }: TinyPicture): Buffer {
  const bytes = Buffer.alloc(Math.max(HEAD, size))
  bytes.write(format, 'latin1')
  bytes.writeUInt16LE(width, 4)
  bytes.writeUInt16LE(height, 6)
  bytes.writeUInt32LE(version, 8)
  return bytes
}

/** The metadata of a picture, behind all else: where it was taken. */
const PLACE = Buffer.from('PLACE')
const NOTE = PLACE.length + 1

/** The picture with other metadata. An SVG has none. */
export function noted(bytes: Buffer, number: number): Buffer {
  const bare = withoutNote(bytes)
  return readTiny(bare)?.format === 'svg' ? bare : Buffer.concat([bare, PLACE, Buffer.from([number])])
}

export function hasNote(bytes: Buffer): boolean {
  return bytes.length > HEAD + NOTE && bytes.subarray(-NOTE, -1).equals(PLACE)
}

/** The picture without metadata. */
export function withoutNote(bytes: Buffer): Buffer {
  return hasNote(bytes) ? bytes.subarray(0, -NOTE) : bytes
}

/** Bytes behind the end of a picture. */
const TRAILER = Buffer.from('BEHIND')
const BEHIND = TRAILER.length + 1

/** The picture with one other fact beside its image data: it is turned or not, or has other bytes behind its end. An SVG has no
 * such facts. */
export function withOtherFact(bytes: Buffer, number: number): Buffer {
  const [whole, trailer] = split(bytes)
  const format = bytes.toString('latin1', 0, 3)
  if (format === 'svg') return bytes
  if (format === 'gif' || number % 2 === 0) {
    const other = (trailerOf(bytes) + 1 + (number % 3)) % 4
    return other === 0 ? whole : Buffer.concat([whole, TRAILER, Buffer.of(other)])
  }
  const turned = Buffer.concat([whole, trailer])
  turned.write(format === 'jpg' ? 'jpe' : 'jpg', 'latin1')
  return turned
}

/** Which bytes are behind the picture's end; 0: none. */
export function trailerOf(bytes: Buffer): number {
  return split(bytes)[1].at(-1) ?? 0
}

/** The picture, and what is behind its end. */
function split(bytes: Buffer): [Buffer, Buffer] {
  const end = bytes.length - BEHIND
  const isIts = end >= HEAD && bytes.subarray(end, -1).equals(TRAILER)
  return isIts ? [bytes.subarray(0, end), bytes.subarray(end)] : [bytes, Buffer.alloc(0)]
}

/** What is there of a picture that is being written; the fourth byte says it. */
const CUT = 0x2f
const MIXED = 0x2e
const ROOM = 0x2d

/** What is written first of a picture that takes its time: no other picture has these bytes. */
export function halfOf(bytes: Buffer, length = bytes.length >> 1, at = 0): Buffer {
  return marked(bytes.subarray(0, Math.max(HEAD, length)), CUT, at)
}

/** What lies between two versions while one is written over the other: it looks whole. */
export function mixedOf(bytes: Buffer, at: number): Buffer {
  return marked(bytes, MIXED, at)
}

/** Room for a picture, its end yet to be written. */
export function roomFor(bytes: Buffer): Buffer {
  return marked(bytes, ROOM)
}

/** `at`: how many there were before, all of which are others. */
function marked(bytes: Buffer, mark: number, at = 0): Buffer {
  const copy = Buffer.from(bytes)
  copy[3] = mark
  copy[11] = at
  return copy
}

/** Whether somebody is writing it, whatever it looks like. */
export function isHalf(bytes: Buffer): boolean {
  return bytes.length >= HEAD && bytes[3] !== 0
}

/** What its bytes tell of what is missing, where its format tells any. */
export function verdictOf(bytes: Buffer): Verdict {
  if (!tellsItsEnd(bytes)) return { kind: 'closed', early: false }
  if (bytes[3] === ROOM) return { kind: 'odd', code: 'zeros', part: 'room', at: HEAD }
  if (bytes[3] === CUT) return { kind: 'missing', code: 'cut', part: 'its second half', at: bytes.length }
  return { kind: 'closed', early: true }
}

export function tellsItsEnd(bytes: Buffer): boolean {
  return ['gif', 'jpeg'].includes(readTiny(bytes)?.format ?? '')
}

/** Null: no picture. An SVG without a size has no dimensions. */
export function readTiny(bytes: Uint8Array): Picture | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length < HEAD) return null
  const format = buffer.toString('latin1', 0, 3)
  if (format === 'svg') return { format, mime: 'image/svg+xml', width: null, height: null }
  const size = { width: buffer.readUInt16LE(4), height: buffer.readUInt16LE(6) }
  if (format === 'jpg') return { format: 'jpeg', mime: 'image/jpeg', ...size, turned: true }
  if (format === 'jpe') return { format: 'jpeg', mime: 'image/jpeg', ...size }
  return format === 'gif' ? { format, mime: 'image/gif', ...size } : null
}

/** For people who read a history. */
export function nameOfBytes(bytes: Buffer): string {
  if (bytes.length < HEAD) return `${bytes.length} bytes`
  const half = isHalf(bytes) ? 'half of ' : ''
  const size = `${buffer16(bytes, 4)}×${buffer16(bytes, 6)}, ${bytes.length} bytes`
  return `${half}version ${bytes.readUInt32LE(8)} (${bytes.toString('latin1', 0, 3)}, ${size})`
}

function buffer16(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at)
}

/** Whether a picture of so many bytes has nothing but its head. */
export function isBare(size: number): boolean {
  return size <= HEAD
}
