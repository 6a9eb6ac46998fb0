import type { ByteReader } from '../../byte-reader.ts'
import {
  COUNT,
  type Directory,
  ENTRY,
  type Entry,
  EXIF,
  HEADER,
  ORIENTATION,
  POINTER,
  Tiff,
} from '../tiff-directories.ts'
import { type Strip, textAt } from './rules.ts'

/** Where EXIF's own directory is. */
export const PHOTO = 34_665
/** What stays with `location` (EXIF 2.32, 4.6): make, model, time, artist and copyright; and in EXIF's own directory exposure,
 * times and lens. Zones of times are places, and numbers of cameras are persons, so both go. */
export const LEFT = {
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

/** Whether a tag that stays has a value of its kind. */
export function isPlain({ type, bytes, count }: Entry): boolean {
  if (type === ASCII) return count <= MOST_TEXT
  return type !== UNDEFINED && bytes > 0 && count >= 1 && count <= MOST_NUMBERS
}

/** An entry that is to be written. */
interface Field {
  tag: number
  type: number
  count: number
  value: Buffer
}

/** A new EXIF with what may stay of the one between these offsets, and with this orientation. Null: nothing stays. Without the
 * name in front, which not all writers put there, some decoders do not see it. */
export async function newExif(
  reader: ByteReader,
  [start, end]: [number, number],
  orientation: number | undefined,
  how: Strip,
): Promise<Buffer | null> {
  const name = (await textAt(reader, start, EXIF.length)) === EXIF ? EXIF : ''
  const from = start + name.length
  const tiff = await Tiff.at(reader, from)
  const number = numbersOf(tiff)
  const fieldsOf = async ({ entries }: Directory, tags: readonly number[]): Promise<Field[]> => {
    const fields: Field[] = []
    for (const [tag, entry] of entries) {
      const to = entry.at + entry.count * entry.bytes
      if (!tags.includes(tag) || !isPlain(entry) || entry.at < from || to > end) continue
      fields.push({ tag, ...entry, value: Buffer.from(await reader.slice(entry.at, to)) })
    }
    return fields
  }
  const one = (tag: number, type: number, value: Buffer): Field => ({ tag, type, count: 1, value })
  const isTurned = orientation !== undefined && orientation >= 2 && orientation <= 8
  const image = isTurned ? [one(ORIENTATION, SHORT, number(orientation, 2))] : []
  const photo: Field[] = []
  if (how === 'location') {
    const first = await tiff.directory(tiff.first, [...LEFT.image, PHOTO])
    image.push(...(await fieldsOf(first, LEFT.image)))
    const place = (await tiff.numbers(first, [PHOTO])).get(PHOTO)
    if (place) photo.push(...(await fieldsOf(await tiff.directory(from + place, LEFT.photo), LEFT.photo)))
  }
  if (image.length + photo.length === 0) return null
  const header = [
    Buffer.from(name, 'latin1'),
    Buffer.from(tiff.isLittle ? 'II' : 'MM'),
    number(42, 2),
    number(HEADER, 4),
  ]
  if (photo.length === 0) return Buffer.concat([...header, directoryOf(image, HEADER, number)])
  const withPhoto = (at: number) => directoryOf([...image, one(PHOTO, LONG, number(at, 4))], HEADER, number)
  const at = HEADER + withPhoto(0).byteLength
  return Buffer.concat([...header, withPhoto(at), directoryOf(photo, at, number)])
}

type Numbers = (value: number, length: number) => Buffer

/** Writes numbers in the byte order of this TIFF. */
export function numbersOf({ isLittle }: Tiff): Numbers {
  return (value, length) => {
    const bytes = Buffer.alloc(length)
    if (isLittle) bytes.writeUIntLE(value, 0, length)
    else bytes.writeUIntBE(value, 0, length)
    return bytes
  }
}

/** The last directory of its kind, which stands at `at`, with the values behind it. */
function directoryOf(fields: readonly Field[], at: number, number: Numbers): Buffer {
  const entries: Buffer[] = []
  const values: Buffer[] = []
  let next = at + COUNT + fields.length * ENTRY + POINTER
  for (const { tag, type, count, value } of fields.toSorted((a, b) => a.tag - b.tag)) {
    const isInside = value.byteLength <= POINTER
    // A value begins at an even offset (TIFF 6.0, section 2).
    const padded = Buffer.concat([value], isInside ? POINTER : 2 * Math.ceil(value.byteLength / 2))
    entries.push(number(tag, 2), number(type, 2), number(count, 4), isInside ? padded : number(next, POINTER))
    if (isInside) continue
    values.push(padded)
    next += padded.byteLength
  }
  return Buffer.concat([number(fields.length, COUNT), ...entries, number(0, POINTER), ...values])
}
