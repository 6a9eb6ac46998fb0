import { BLANK, type ByteReader, broken, CLOSED, cut, type Ending, WHOLE } from './bytes.ts'

const SOI_LENGTH = 2
const SOI = '\xff\xd8\xff'
const EOI = '\xff\xd9'
const EOI_CODE = 0xd9
const SOS_CODE = 0xda
const APP1 = 0xe1
const APP2 = 0xe2

/** One image of the file. `pixels` and `end`: offsets of its pixels. `announces`: its metadata say that more data follow. */
interface Image {
  pixels: number
  end: number
  announces: boolean
}

/**
 * A JPEG ends with its marker EOI. Phones append further images, and a film for a motion photo. Appended images must be
 * complete too; other appended bytes are not checked.
 */
export async function jpegEnding(reader: ByteReader): Promise<Ending> {
  let announced = false
  for (let start = 0; ; ) {
    const image = await walkImage(reader, start)
    if ('kind' in image) return image
    if (await reader.hasBlankPage(image.pixels, image.end)) return BLANK
    announced ||= image.announces
    // A writer may still append the announced film.
    if (image.end === reader.size) return announced ? WHOLE : CLOSED
    const behind = await reader.bytes(image.end, SOI.length)
    if (behind?.toString('latin1', 0, SOI.length) !== SOI) return WHOLE
    start = image.end
  }
}

/** Skips the segments before the first scan, because a thumbnail in a segment has an end marker of its own. */
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
    if (marker.code === SOS_CODE) return endOfScans(reader, offset, announces)
  }
}

/** The next EOI ends the image, because neither compressed pixels nor the tables between scans contain these two bytes. */
async function endOfScans(reader: ByteReader, from: number, announces: boolean): Promise<Image | Ending> {
  const at = await reader.find(EOI, from)
  return at === null
    ? cut('its end marker (EOI) is missing')
    : { pixels: from, end: at + EOI.length, announces }
}

/** The next marker with a segment, or EOI. There may be stray bytes before it, which decoders skip. */
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

/** Not RST0 to RST7, SOI and EOI; codes below are reserved, 0xFF fills. */
function hasSegment(code: number): boolean {
  return code >= 0xc0 && code <= 0xfe && (code < 0xd0 || code > EOI_CODE)
}

/** XMP's marks of a motion photo and of a gain map; the index of a multi-picture file (CIPA DC-007). */
const XMP_MARKS = ['MotionPhoto', 'MicroVideo', 'Container:Directory']

function saysThatMoreComes(code: number, data: Buffer): boolean {
  if (code === APP2) return data.toString('latin1', 0, 4) === 'MPF\0'
  return code === APP1 && XMP_MARKS.some(mark => data.includes(mark, 0, 'latin1'))
}
