import { plausible, type Size } from './header.ts'
import type { Window } from './window.ts'

/** How a directory is laid out, in bytes. */
export interface TiffLayout {
  /** Offset in the file of the pointer to the first directory. */
  pointerAt: number
  pointer: 4 | 8
  count: 2 | 8
  entry: 12 | 20
  /** Offset of the value in an entry. */
  valueAt: 8 | 12
}

/** TIFF 6.0, section 2. */
const CLASSIC: TiffLayout = { pointerAt: 4, pointer: 4, count: 2, entry: 12, valueAt: 8 }
/** BigTIFF, for files beyond 4 GiB. */
const BIG: TiffLayout = { pointerAt: 8, pointer: 8, count: 8, entry: 20, valueAt: 12 }

const CLASSIC_VERSION = 42
const BIG_VERSION = 43

/** Real directories have a few dozen entries. Entries are sorted by tag, so width and length are near the start. */
const MAX_ENTRIES = 1024
const IMAGE_WIDTH = 256
const IMAGE_LENGTH = 257

/** Whether bytes begin as TIFF or BigTIFF does, in either byte order. */
export function hasTiffHeader(head: Uint8Array): boolean {
  const [first, second, third, fourth] = head
  if (first === 0x49 && second === 0x49) return fourth === 0 && isVersion(third)
  return first === 0x4d && second === 0x4d && third === 0 && isVersion(fourth)
}

function isVersion(byte: number | undefined): boolean {
  return byte === CLASSIC_VERSION || byte === BIG_VERSION
}

/** `header`: the first bytes of a TIFF. */
export function layoutOf(header: DataView, little: boolean): TiffLayout {
  return header.getUint16(2, little) === BIG_VERSION ? BIG : CLASSIC
}

/**
 * The size in the first directory of a TIFF. The directory may be at the end of the file, because many writers write it
 * after the pixels. Other directories are further pages or smaller copies.
 */
export async function readTiffSize(window: Window): Promise<Size | null> {
  const header = await window.at(0, 16)
  if (header === null) return null
  const little = header.getUint8(0) === 0x49
  const layout = layoutOf(header, little)
  return readDirectory(window, layout, little, readUint(header, layout.pointerAt, layout.pointer, little))
}

async function readDirectory(
  window: Window,
  layout: TiffLayout,
  little: boolean,
  offset: number,
): Promise<Size | null> {
  const head = await window.at(offset, layout.count)
  if (head === null) return null
  const entries = Math.min(readUint(head, 0, layout.count, little), MAX_ENTRIES)
  let width: number | undefined
  let height: number | undefined
  for (let index = 0; index < entries && (width === undefined || height === undefined); index++) {
    const entry = await window.at(offset + layout.count + index * layout.entry, layout.entry)
    if (entry === null) return null
    const tag = entry.getUint16(0, little)
    if (tag === IMAGE_WIDTH) width = readValue(entry, layout, little)
    if (tag === IMAGE_LENGTH) height = readValue(entry, layout, little)
  }
  return plausible(width, height)
}

/** Bytes of the integer types that a dimension may have: SHORT, LONG, BigTIFF's LONG8. */
const BYTES_OF_TYPE = new Map<number, 2 | 4 | 8>([
  [3, 2],
  [4, 4],
  [16, 8],
])

/** The number of an entry that has one number. It is in the first bytes of the value field in both byte orders. */
function readValue(entry: DataView, layout: TiffLayout, little: boolean): number | undefined {
  const bytes = BYTES_OF_TYPE.get(entry.getUint16(2, little))
  return bytes && bytes <= layout.pointer ? readUint(entry, layout.valueAt, bytes, little) : undefined
}

export function readUint(view: DataView, offset: number, bytes: 2 | 4 | 8, little: boolean): number {
  if (bytes === 2) return view.getUint16(offset, little)
  if (bytes === 4) return view.getUint32(offset, little)
  return Number(view.getBigUint64(offset, little))
}
