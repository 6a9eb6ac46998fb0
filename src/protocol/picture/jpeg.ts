import { plausible, type Size } from './header.ts'
import type { Window } from './window.ts'

/** Start of image: the two bytes that every JPEG begins with. */
const SOI_LENGTH = 2
const EOI = 0xd9
const SOS = 0xda

/**
 * The size that a JPEG's frame header states (ITU-T T.81, B.2.2), for every coding process, also
 * behind long EXIF or ICC data. EXIF's orientation is not applied. Null: there is no frame header, or its height is 0
 * because a later DNL segment states the height.
 */
export async function readJpegSize(window: Window): Promise<Size | null> {
  let offset = SOI_LENGTH
  for (;;) {
    const marker = await nextMarker(window, offset)
    if (marker === null || marker.code === EOI || marker.code === SOS) return null
    if (isFrame(marker.code)) return readFrame(window, marker.end)
    const length = standsAlone(marker.code) ? 0 : await segmentLength(window, marker.end)
    if (length === null) return null
    offset = marker.end + length
  }
}

interface Marker {
  code: number
  /** Offset of the byte after it. */
  end: number
}

/** The next marker. Fill bytes (0xFF) may precede it, and cameras leave stray bytes that decoders step over. */
async function nextMarker(window: Window, from: number): Promise<Marker | null> {
  for (let offset = from; ; ) {
    const bytes = await window.at(offset, 2)
    if (bytes === null) return null
    const last = bytes.byteLength - 1
    for (let at = 0; at < last; at++) {
      const code = bytes.getUint8(at + 1)
      if (bytes.getUint8(at) === 0xff && code !== 0x00 && code !== 0xff) return { code, end: offset + at + 2 }
    }
    offset += last
  }
}

/** SOF0 to SOF15. The range also contains DHT, JPG and DAC, which are not frames. */
function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc
}

/** TEM, RST0 to RST7 and SOI have no segment behind them. */
function standsAlone(code: number): boolean {
  return code === 0x01 || (code >= 0xd0 && code <= 0xd8)
}

/** Bytes of the segment, including the two bytes of the length itself. */
async function segmentLength(window: Window, offset: number): Promise<number | null> {
  const length = (await window.at(offset, 2))?.getUint16(0) ?? 0
  return length >= 2 ? length : null
}

/** Length (2 bytes), sample precision (1), height (2), width (2). */
async function readFrame(window: Window, offset: number): Promise<Size | null> {
  const frame = await window.at(offset, 7)
  return frame && plausible(frame.getUint16(5), frame.getUint16(3))
}
