import type { ByteReader } from '../../byte-reader.ts'
import { COUNT, ENTRY, type Entry, HEADER, ORIENTATION, POINTER, Tiff } from '../tiff-directories.ts'
import type { Strip } from './rules.ts'

/** Where EXIF's own directory is. */
export const PHOTO = 34_665
/** What stays with `location` (EXIF 2.32, 4.6): make, model, time, artist and copyright; and in EXIF's own directory exposure,
 * times and lens. Zones of times are places, and numbers of cameras are persons, so both go. */
const LEFT = {
  image: [271, 272, 306, 315, 33_432],
  // biome-ignore format: a list.
  photo: [
    33_434, 33_437, 34_850, 34_855, 34_864, 34_865, 34_866, 36_867, 36_868, 37_377, 37_378, 37_379, 37_380, 37_381,
    37_383, 37_384, 37_385, 37_386, 37_520, 37_521, 37_522, 41_985, 41_986, 41_987, 41_988, 41_989, 41_990, 41_991,
    41_992, 41_993, 41_994, 42_034, 42_035, 42_036,
  ],
} as const

const [ASCII, SHORT, LONG, UNDEFINED] = [2, 3, 4, 7]
/** More numbers, or a longer text, are something else. */
const MOST_NUMBERS = 4
const MOST_TEXT = 1000

/** The entries of a directory that stay with `location`, when they have values of their kind between the TIFF's begin and `end`. */
export function leftIn(
  { start }: Tiff,
  { entries }: { entries: ReadonlyMap<number, Entry> },
  kind: keyof typeof LEFT,
  end: number,
): Entry[] {
  const tags: readonly number[] = LEFT[kind]
  return [...entries.values()].filter(({ tag, type, bytes, count, at }) => {
    if (!tags.includes(tag) || at < start || at + count * bytes > end) return false
    if (type === ASCII) return count <= MOST_TEXT
    return type !== UNDEFINED && bytes > 0 && count >= 1 && count <= MOST_NUMBERS
  })
}

/** An entry that is to be written. Its value may be the directory to which it points. */
interface Field {
  tag: number
  type: number
  count: number
  value: Buffer | Field[]
}

/** A new EXIF with what may stay of the one between these offsets, and with this orientation. Null: nothing stays. Without the
 * name in front, which not all writers put there, some decoders do not see it. */
export async function newExif(
  reader: ByteReader,
  [from, end]: [number, number],
  orientation: number | undefined,
  how: Strip,
): Promise<Buffer | null> {
  const tiff = await Tiff.ofExif(reader, from)
  const fields: Field[] = []
  if (orientation !== undefined && orientation >= 2 && orientation <= 8)
    fields.push({ tag: ORIENTATION, type: SHORT, count: 1, value: tiff.bytesOf(orientation, 2) })
  if (how === 'location') {
    const first = await tiff.directory(tiff.first)
    const place = (await tiff.numbers(first, [PHOTO])).get(PHOTO)
    const own = await tiff.directory(place ? tiff.start + place : 0)
    const photo = await read(reader, leftIn(tiff, own, 'photo', end))
    fields.push(...(await read(reader, leftIn(tiff, first, 'image', end))))
    if (photo.length > 0) fields.push({ tag: PHOTO, type: LONG, count: 1, value: photo })
  }
  if (fields.length === 0) return null
  return Buffer.concat([
    await reader.slice(from, tiff.start),
    Buffer.from(tiff.isLittle ? 'II' : 'MM'),
    tiff.bytesOf(42, 2),
    tiff.bytesOf(HEADER, POINTER),
    written(tiff, fields, HEADER),
  ])
}

async function read(reader: ByteReader, entries: readonly Entry[]): Promise<Field[]> {
  const fields: Field[] = []
  for (const { at, bytes, ...entry } of entries)
    fields.push({ ...entry, value: Buffer.from(await reader.slice(at, at + entry.count * bytes)) })
  return fields
}

/** The bytes of a directory, without a next one. */
export function directoryOf(tiff: Tiff, entries: readonly Buffer[], next = 0): Buffer {
  return Buffer.concat([tiff.bytesOf(entries.length, COUNT), ...entries, tiff.bytesOf(next, POINTER)])
}

/** A directory that stands at `at`, with the values behind it. */
function written(tiff: Tiff, fields: readonly Field[], at: number): Buffer {
  const entries: Buffer[] = []
  const values: Buffer[] = []
  let next = at + COUNT + fields.length * ENTRY + POINTER
  for (const { tag, type, count, value } of fields.toSorted((a, b) => a.tag - b.tag)) {
    const bytes = Buffer.isBuffer(value) ? value : written(tiff, value, next)
    const isInside = bytes.byteLength <= POINTER
    // A value begins at an even offset (TIFF 6.0, section 2).
    const padded = Buffer.concat([bytes], isInside ? POINTER : 2 * Math.ceil(bytes.byteLength / 2))
    const head = [tiff.bytesOf(tag, 2), tiff.bytesOf(type, 2), tiff.bytesOf(count, 4)]
    entries.push(Buffer.concat([...head, isInside ? padded : tiff.bytesOf(next, POINTER)]))
    if (isInside) continue
    values.push(padded)
    next += padded.byteLength
  }
  return Buffer.concat([directoryOf(tiff, entries), ...values])
}
