import { plausible, type Size } from './size.ts'

/** Bytes of the oldest header, OS/2's. It has 16 bits for each dimension where all later ones have 32. */
const CORE_HEADER = 12

/** The size of a BMP. A negative height says that the rows are stored from the top. */
export function readBmpSize(head: Uint8Array): Size | null {
  if (head.byteLength < 26) return null
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  if (view.getUint32(14, true) === CORE_HEADER) {
    return plausible(view.getUint16(18, true), view.getUint16(20, true))
  }
  return plausible(view.getInt32(18, true), Math.abs(view.getInt32(22, true)))
}
