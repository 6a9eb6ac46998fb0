import type { ByteSource } from '../protocol/picture/byte-reader.ts'

/** Bytes. Enough for an EXIF segment (64 KB at most) and the few bytes before it. */
const EXIF_WITHIN = 80 * 1024

const APP1 = 0xe1
const SCAN = 0xda
const ORIENTATION = 0x0112

/** Orientations from 5 on turn a picture on its side (EXIF 2.32, 4.6.4). */
const FIRST_ON_SIDE = 5
const LAST = 8

/** Whether EXIF turns a JPEG on its side, so that it is shown as wide as it is stored high. */
export async function liesOnSide(source: ByteSource): Promise<boolean> {
  const head = Buffer.from(await source.read(0, EXIF_WITHIN))
  try {
    const tiff = exifOf(head)
    const orientation = tiff ? orientationIn(tiff) : 1
    return orientation >= FIRST_ON_SIDE && orientation <= LAST
  } catch (error) {
    // A damaged block points behind its end.
    if (error instanceof RangeError) return false
    throw error
  }
}

/** The EXIF block, which is built like a TIFF. */
function exifOf(head: Buffer): Buffer | null {
  if (head.byteLength < 2 || head.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; head.readUInt8(at) === 0xff && head.readUInt8(at + 1) !== SCAN; ) {
    const length = head.readUInt16BE(at + 2)
    const isExif = head.toString('latin1', at + 4, at + 10) === 'Exif\0\0'
    if (head.readUInt8(at + 1) === APP1 && isExif) return head.subarray(at + 10, at + 2 + length)
    at += 2 + length
  }
  return null
}

function orientationIn(tiff: Buffer): number {
  const little = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  for (let entry = 0; entry < short(directory); entry += 1) {
    const at = directory + 2 + entry * 12
    if (short(at) === ORIENTATION) return short(at + 8)
  }
  return 1
}
