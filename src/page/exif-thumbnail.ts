/** Enough for an EXIF segment (64 KB at most) and the few bytes that may stand before it. */
export const EXIF_WITHIN = 80 * 1024

const EXIF = 0xe1
const SCAN = 0xda
const END = 0xd9

const ORIENTATION = 0x0112
const THUMBNAIL_AT = 0x0201
const THUMBNAIL_LENGTH = 0x0202
/** Bytes. */
const ENTRY = 12
/** A type of two bytes; those that are asked for here have else four. */
const SHORT = 3

/**
 * The small JPEG that a camera has put into a large one, turned as that one is; null where there is none. `head`: the
 * large one's first bytes.
 */
export function exifThumbnail(head: Uint8Array): Uint8Array<ArrayBuffer> | null {
  try {
    const tiff = exifOf(head)
    return tiff && thumbnailIn(tiff)
  } catch (error) {
    // It points behind its end.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** What EXIF holds has the structure of a TIFF (EXIF 2.32, 4.5.2). */
function exifOf(head: Uint8Array): DataView | null {
  const view = viewOf(head)
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    const length = view.getUint16(at + 2)
    if (marker === SCAN || marker === END) return null
    const isExif = view.getUint32(at + 4) === 0x45786966 && view.getUint16(at + 8) === 0
    if (marker === EXIF && isExif) return viewOf(head.subarray(at + 10, at + 2 + length))
    at += 2 + length
  }
  return null
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The first directory is of the large picture, the second of the small one. */
function thumbnailIn(tiff: DataView): Uint8Array<ArrayBuffer> | null {
  const little = tiff.getUint16(0) === 0x4949
  const large = directoryAt(tiff, tiff.getUint32(4, little), little)
  if (large.next === 0) return null
  const small = directoryAt(tiff, large.next, little)
  const at = small.value(THUMBNAIL_AT)
  const length = small.value(THUMBNAIL_LENGTH)
  if (at === null || length === null || tiff.getUint16(at) !== 0xffd8) return null
  if (at + length > tiff.byteLength) return null
  const jpeg = new Uint8Array(tiff.buffer, tiff.byteOffset + at, length)
  return turned(jpeg, large.value(ORIENTATION) ?? 1)
}

function directoryAt(tiff: DataView, at: number, little: boolean) {
  const end = at + 2 + tiff.getUint16(at, little) * ENTRY
  return {
    /** Where the next directory is; 0: there is none. */
    next: tiff.getUint32(end, little),
    value(tag: number): number | null {
      for (let entry = at + 2; entry < end; entry += ENTRY) {
        if (tiff.getUint16(entry, little) !== tag) continue
        const isShort = tiff.getUint16(entry + 2, little) === SHORT
        return isShort ? tiff.getUint16(entry + 8, little) : tiff.getUint32(entry + 8, little)
      }
      return null
    },
  }
}

/** The small picture seldom says how it is to be turned: it gets an EXIF of its own that does. */
function turned(jpeg: Uint8Array, orientation: number): Uint8Array<ArrayBuffer> {
  const exif = Buffer.from(
    'ffe10022457869660000' + '4d4d002a00000008' + '0001' + '011200030000000100000000' + '00000000',
    'hex',
  )
  exif.writeUInt16BE(orientation, 28)
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]))
}
