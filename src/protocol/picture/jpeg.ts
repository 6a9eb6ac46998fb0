import type { ByteReader, Size } from './byte-reader.ts'
import { BLANK, broken, CLOSED, cut, type Ending, WHOLE } from './ending.ts'
import { type ExifThumbnail, exifThumbnail, liesOnSide } from './tiff.ts'

/** Start of image: the two bytes that every JPEG begins with. A marker follows. */
const SOI_LENGTH = 2
/** The two bytes at the start of a segment state its length. The length includes these two bytes. */
const LENGTH = 2
const BEGINNING = '\xff\xd8\xff'
const EOI = '\xff\xd9'
const EOI_CODE = 0xd9
const SOS_CODE = 0xda
const APP1 = 0xe1
const APP2 = 0xe2

/** The first bytes of an APP1 segment that holds EXIF. */
const EXIF = 'Exif\0\0'

/** The size in a JPEG's frame header (ITU-T T.81, B.2.2), also behind long EXIF or ICC data. `turned`: by EXIF, on its
 * side; the size is as stored. Null: no frame header, or a DNG segment states the height. */
export async function readJpegSize(reader: ByteReader): Promise<(Size & { turned: boolean }) | null> {
  let exif: number | null = null
  for await (const { code, start } of segmentsBeforePixels(reader)) {
    exif ??= await exifIn(reader, code, start)
    if (!isFrame(code)) continue
    // The frame header: length (2 bytes), sample precision (1), height (2), width (2).
    const frame = await reader.bytes(start, 7)
    if (frame === null) return null
    const turned = exif !== null && (await liesOnSide(reader, exif))
    return { width: frame.readUInt16BE(5), height: frame.readUInt16BE(3), turned }
  }
  return null
}

/** The small JPEG in the EXIF of a large JPEG; null when there is none. */
export async function readThumbnail(reader: ByteReader): Promise<ExifThumbnail | null> {
  for await (const { code, start } of segmentsBeforePixels(reader)) {
    const exif = await exifIn(reader, code, start)
    if (exif !== null) return exifThumbnail(reader, exif)
  }
  return null
}

/** The offset of the EXIF block in this segment; null: none. Callers use the first of a file. */
async function exifIn(reader: ByteReader, code: number, start: number): Promise<number | null> {
  const data = start + LENGTH
  const name = code === APP1 && (await reader.bytes(data, EXIF.length))
  return name && name.toString('latin1', 0, EXIF.length) === EXIF ? data + EXIF.length : null
}

/** The segments before the first scan. `start`: the offset of the segment's length, which follows its marker. */
async function* segmentsBeforePixels(
  reader: ByteReader,
): AsyncGenerator<{ code: number; start: number }, void> {
  for (let offset = SOI_LENGTH; ; ) {
    const marker = await nextMarker(reader, offset)
    if (marker === null || marker.code === EOI_CODE || marker.code === SOS_CODE) return
    yield { code: marker.code, start: marker.end }
    const length = (await reader.bytes(marker.end, LENGTH))?.readUInt16BE(0) ?? 0
    if (length < LENGTH) return
    offset = marker.end + length
  }
}

/** Whether the code is one of SOF0 to SOF15. Between these codes lie DHT, JPG and DAC, which begin no frame. */
function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc
}

/** One image of the file: where its pixels begin and end. `announces`: its metadata say that more data follow. */
interface Image {
  pixels: number
  end: number
  announces: boolean
}

/** A JPEG ends with EOI. Phones append images, which must be complete too, and films, which are not checked. */
export async function jpegEnding(reader: ByteReader): Promise<Ending> {
  let announced = false
  for (let start = 0; ; ) {
    const image = await walkImage(reader, start)
    if ('kind' in image) return image
    if (await reader.hasBlankPage(image.pixels, image.end)) return BLANK
    announced ||= image.announces
    // When the metadata announce more data, such as a film, a writer may still append the data.
    if (image.end === reader.size) return announced ? WHOLE : CLOSED
    const behind = await reader.bytes(image.end, BEGINNING.length)
    if (behind?.toString('latin1', 0, BEGINNING.length) !== BEGINNING) return WHOLE
    start = image.end
  }
}

/** Finds the end of one image. Segments are skipped as a whole, because a thumbnail has an end marker of its own. */
async function walkImage(reader: ByteReader, start: number): Promise<Image | Ending> {
  let announces = false
  for (let offset = start + SOI_LENGTH; ; ) {
    const marker = await nextMarker(reader, offset)
    if (marker === null) return cut('its pixels are missing')
    if (marker.code === EOI_CODE) return { pixels: marker.end, end: marker.end, announces }
    const length = (await reader.bytes(marker.end, 2))?.readUInt16BE(0) ?? 2
    if (length < 2) return broken(marker.end)
    const segment = await reader.bytes(marker.end, length)
    if (segment === null) return cut(`its segment at byte ${marker.end - 2} goes on behind the file's end`)
    announces ||= saysThatMoreComes(marker.code, segment.subarray(2, length))
    offset = marker.end + length
    if (marker.code !== SOS_CODE) continue
    // EOI occurs neither in compressed pixels nor in tables between scans.
    const at = await reader.find(EOI, offset)
    if (at === null) return cut('its end marker (EOI) is missing')
    return { pixels: offset, end: at + EOI.length, announces }
  }
}

/** What the XMP of a motion photo, or of a picture with a gain map, contains. */
const XMP_MARKS = ['MotionPhoto', 'MicroVideo', 'Container:Directory']

function saysThatMoreComes(code: number, data: Buffer): boolean {
  // MPF: the index of a multi-picture file (CIPA DC-007).
  if (code === APP2) return data.toString('latin1', 0, 4) === 'MPF\0'
  return code === APP1 && XMP_MARKS.some(mark => data.includes(mark, 0, 'latin1'))
}

/** The next marker with a segment, or EOI. `end`: behind it. Skips fill bytes, bare markers and stray bytes of cameras. */
async function nextMarker(reader: ByteReader, from: number): Promise<{ code: number; end: number } | null> {
  for (let offset = from; ; ) {
    const bytes = await reader.bytes(offset, 2)
    if (bytes === null) return null
    const last = bytes.byteLength - 1
    for (let at = bytes.indexOf(0xff); at >= 0 && at < last; at = bytes.indexOf(0xff, at + 1)) {
      const code = bytes[at + 1]!
      if (hasSegment(code) || code === EOI_CODE) return { code, end: offset + at + 2 }
    }
    offset += last
  }
}

/** RST0 to RST7, SOI and EOI have none; codes below 0xC0 are reserved, and 0xFF is a fill byte. */
function hasSegment(code: number): boolean {
  return code >= 0xc0 && code <= 0xfe && (code < 0xd0 || code > EOI_CODE)
}
