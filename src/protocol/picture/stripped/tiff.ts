import { ByteReader, type ByteSource } from '../../byte-reader.ts'
import { walkImage } from '../jpeg/image.ts'
import { FLAWS, isExtra, MOST_PARTS, type Part } from '../part.ts'
import { COMPRESSION, MOST_DIRECTORIES, PIECES, SUB_DIRECTORIES, walkTiff } from '../tiff.ts'
import { type Directory, ENTRY, HEADER, MOST_READ, ORIENTATION, POINTER, Tiff } from '../tiff-directories.ts'
import { isPlain, LEFT, numbersOf, PHOTO } from './exif.ts'
import { isScan } from './jpeg.ts'
import type { Obstacle, Piece, Strip } from './rules.ts'

/** All that says how pixels are packed, and what their colours are. */
// biome-ignore format: a list.
const NEEDED = [
  254, 255, 256, 257, 258, COMPRESSION, 262, 263, 264, 265, 266, ORIENTATION, 277, 278, 280, 281, 282, 283, 284, 286,
  287, 290, 291, 292, 293, 296, 297, 300, 301, 317, 318, 319, 320, 321, 322, 323, 326, 327, 328, SUB_DIRECTORIES, 332,
  334, 336, 338, 339, 340, 341, 342, 347, 512, 515, 517, 518, 529, 530, 531, 532, 32_995, 32_996, 32_997, 32_998,
  34_675, 37_439, ...PIECES.flatMap(({ offsets, lengths }) => [offsets, lengths]),
]
/** The tables of an old JPEG: their tags name places, and nothing names their lengths. */
const PLACES = [519, 520, 521]
/** JPEG of both kinds, and packings that have only pixels: none, CCITT, LZW, Deflate, PackBits, LZMA, Zstandard. */
const [OLD_JPEG, JPEG] = [6, 7]
const PACKINGS = new Set([1, 2, 3, 4, 5, OLD_JPEG, JPEG, 8, 32_771, 32_773, 32_946, 34_925, 50_000])
/** What these flaws concern stays as it is. */
const HARMLESS = ['zeros', 'no_end']
const ZEROS = Buffer.alloc(64 * 1024)

interface Span {
  from: number
  to: number
  /** What is written there. Left out: it stays as it is. */
  bytes?: Buffer
}

/** The pieces of a TIFF in which all stays in its place: its header, its pixels, its directories with the entries that may stay,
 * and their values. Zeros stand between them. */
export async function strippedTiff(source: ByteSource, how: Strip): Promise<Piece[] | Obstacle> {
  const directories = new Directories(await Tiff.at(new ByteReader(source)), how)
  let count = 0
  for await (const part of walkTiff(new ByteReader(source))) {
    const { name, from, role, flaw } = part
    const place = { part: name, at: from }
    if (flaw && FLAWS[flaw.code] === 'missing') return { ...flaw, code: 'not_whole' }
    if (flaw && !HARMLESS.includes(flaw.code)) return { ...flaw, code: 'not_understood' }
    const stays = role !== 'index' || (await directories.take(from))
    if (++count > MOST_PARTS || directories.areTooMany) return { code: 'too_many', ...place }
    if (!stays || (role === 'image' && !(await directories.pixels(part))))
      return { code: 'not_understood', ...place }
  }
  return composed(directories.spans) ?? { code: 'not_understood', part: 'directory 1', at: HEADER }
}

class Directories {
  readonly #tiff: Tiff
  readonly #how: Strip
  readonly spans: Span[] = [{ from: 0, to: HEADER }]
  #count = 0
  /** So many entries and numbers has the walk read, or more. */
  #read = 0
  /** How the pixels of the last directory are packed. */
  #packing: number | null = null

  constructor(tiff: Tiff, how: Strip) {
    this.#tiff = tiff
    this.#how = how
  }

  /** Whether the walk may have left out some, which must not be taken for none. */
  get areTooMany(): boolean {
    return this.#count >= MOST_DIRECTORIES || this.#read >= MOST_READ
  }

  /** Takes a directory with the tags that may stay. False: none may, and it can't be left out. */
  async take(at: number): Promise<boolean> {
    const isLocation = this.#how === 'location'
    const tags = isLocation ? [...NEEDED, ...LEFT.image, PHOTO] : NEEDED
    const directory = await this.#tiff.directory(at, [...tags, ...PLACES])
    const { entries, count, next } = directory
    this.#count++
    this.#read += count + NEEDED.length
    for (const tag of [SUB_DIRECTORIES, ...PIECES.flatMap(({ offsets, lengths }) => [offsets, lengths])])
      this.#read += entries.get(tag)?.count ?? 0
    const numbers = await this.#tiff.numbers(directory, [COMPRESSION, PHOTO])
    this.#packing = PLACES.some(tag => entries.has(tag)) ? null : (numbers.get(COMPRESSION) ?? 1)
    const hasPhoto = isLocation && (await this.#takePhoto(numbers.get(PHOTO)))
    if (!hasPhoto) entries.delete(PHOTO)
    for (const tag of LEFT.image) if (entries.has(tag) && !isPlain(entries.get(tag)!)) entries.delete(tag)
    await this.#write(at, directory, next)
    return entries.size > 0
  }

  async #takePhoto(at = 0): Promise<boolean> {
    const photo = await this.#tiff.directory(at, LEFT.photo)
    const { size } = this.#tiff.reader
    this.#read += photo.count
    for (const [tag, entry] of photo.entries)
      if (!isPlain(entry) || entry.at + entry.count * entry.bytes > size) photo.entries.delete(tag)
    if (photo.entries.size === 0) return false
    await this.#write(at, photo, 0)
    return true
  }

  async #write(from: number, { entries }: Directory, next: number): Promise<void> {
    const number = numbersOf(this.#tiff)
    const pieces = [number(entries.size, 2)]
    for (const entry of entries.values()) {
      pieces.push(Buffer.from(await this.#tiff.reader.slice(entry.from, entry.from + ENTRY)))
      const length = entry.count * entry.bytes
      if (length > POINTER) this.spans.push({ from: entry.at, to: entry.at + length })
    }
    const bytes = Buffer.concat([...pieces, number(next, POINTER)])
    this.spans.push({ from, to: from + bytes.byteLength, bytes })
  }

  /** Whether these pixels of the last directory are nothing else. A JPEG may have metadata of its own. */
  async pixels(part: Part): Promise<boolean> {
    const { from, to } = part
    const { reader } = this.#tiff
    const packing = this.#packing
    this.spans.push({ from, to })
    if (packing === null || !PACKINGS.has(packing)) return false
    if (packing !== JPEG && !part.name.startsWith('JPEG')) return true
    for await (const inside of walkImage(reader, from)) {
      const { role, flaw } = inside
      if (isExtra(inside) || inside.to > to || (flaw && FLAWS[flaw.code] === 'missing')) return false
      if (role === 'image' && !(await isScan(reader, inside))) return false
    }
    return true
  }
}

/** The pieces up to the last span. Null: something that is written anew belongs to two. */
function composed(spans: readonly Span[]): Piece[] | null {
  const pieces: Piece[] = []
  let [at, written] = [0, 0]
  for (const { from, to, bytes } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from < (bytes ? at : written)) return null
    for (; at < from; at += Math.min(ZEROS.byteLength, from - at)) pieces.push(ZEROS.subarray(0, from - at))
    if (bytes) pieces.push(bytes)
    else if (to > at) pieces.push({ from: at, to })
    at = Math.max(at, to)
    if (bytes) written = to
  }
  return pieces
}
