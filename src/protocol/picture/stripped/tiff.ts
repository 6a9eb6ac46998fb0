import { ByteReader, type ByteSource } from '../../byte-reader.ts'
import { walkImage } from '../jpeg/image.ts'
import { FLAWS, type Flaw, isExtra, type Part } from '../part.ts'
import { COMPRESSION, MOST_DIRECTORIES, PIECES, SUB_DIRECTORIES, walkTiff } from '../tiff.ts'
import { type Directory, ENTRY, type Entry, HEADER, ORIENTATION, POINTER, Tiff } from '../tiff-directories.ts'
import { isScan } from './containers.ts'
import { directoryOf, leftIn, PHOTO } from './exif.ts'
import type { Obstacle, Piece, Strip } from './rules.ts'

/** All that says how pixels are packed, and what their colours are. */
// biome-ignore format: a list.
const NEEDED = new Set([
  254, 255, 256, 257, 258, COMPRESSION, 262, 263, 264, 265, 266, ORIENTATION, 277, 278, 280, 281, 282, 283, 284, 286,
  287, 290, 291, 292, 293, 296, 297, 300, 301, 317, 318, 319, 320, 321, 322, 323, 326, 327, 328, SUB_DIRECTORIES, 332,
  334, 336, 338, 339, 340, 341, 342, 347, 512, 515, 517, 518, 529, 530, 531, 532, 32_995, 32_996, 32_997, 32_998,
  34_675, 37_439, ...PIECES.flatMap(({ offsets, lengths }) => [offsets, lengths]),
])
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
  const reader = new ByteReader(source)
  const tiff = await Tiff.at(reader)
  const spans: Span[] = []
  let place = { part: 'header', at: 0 }
  let packing = 0
  let directories = 0
  // What the walk may have left out must not be taken for nothing.
  const areTooMany = () => tiff.isReadOut || directories >= MOST_DIRECTORIES
  for await (const part of walkTiff(reader, tiff)) {
    const { name, from, to, role, flaw, directory } = part
    place = { part: name, at: from }
    if (areTooMany()) break
    const obstacle = flaw && obstacleOf(flaw)
    if (obstacle) return obstacle
    if (role === 'unwritten') continue
    if (directory) {
      directories++
      packing = (await tiff.numbers(directory, [COMPRESSION])).get(COMPRESSION) ?? 1
    }
    const own = directory ? await spansOf(tiff, directory, how) : [{ from, to }]
    const stays = role === 'image' ? await arePixels(reader, part, packing) : own.length > 0
    if (!stays) return { code: 'not_understood', ...place }
    spans.push(...own)
  }
  if (areTooMany()) return { code: 'too_many', ...place }
  return composed(spans) ?? { code: 'not_understood', part: 'directory 1', at: HEADER }
}

function obstacleOf(flaw: Flaw): Obstacle | null {
  const isMissing = FLAWS[flaw.code] === 'missing'
  return HARMLESS.includes(flaw.code) ? null : { ...flaw, code: isMissing ? 'not_whole' : 'not_understood' }
}

/** A directory with the entries that may stay, and that of EXIF below it. None: no entry may, or one leads to what nobody knows the
 * end of; and it can't be left out. */
async function spansOf(tiff: Tiff, directory: Directory, how: Strip): Promise<Span[]> {
  if (PLACES.some(tag => directory.entries.has(tag))) return []
  const { size } = tiff.reader
  const stay = new Set([...directory.entries.values()].filter(({ tag }) => NEEDED.has(tag)))
  const photo: Entry[] = []
  let at = 0
  if (how === 'location') {
    at = (await tiff.numbers(directory, [PHOTO])).get(PHOTO) ?? 0
    photo.push(...leftIn(tiff, await tiff.directory(at), 'photo', size))
    for (const entry of leftIn(tiff, directory, 'image', size)) stay.add(entry)
    if (photo.length > 0) stay.add(directory.entries.get(PHOTO)!)
  }
  return [
    ...(await written(tiff, at, photo)),
    ...(await written(tiff, directory.from, [...stay], directory.next)),
  ]
}

/** A directory of these entries, and their values. */
async function written(tiff: Tiff, from: number, entries: Entry[], next = 0): Promise<Span[]> {
  if (entries.length === 0) return []
  const { reader } = tiff
  const fields: Buffer[] = []
  const spans: Span[] = []
  for (const { from, at, count, bytes } of entries.toSorted((a, b) => a.from - b.from)) {
    fields.push(Buffer.from(await reader.slice(from, from + ENTRY)))
    if (count * bytes > POINTER) spans.push({ from: at, to: at + count * bytes })
  }
  const bytes = directoryOf(tiff, fields, next)
  return [...spans, { from, to: from + bytes.byteLength, bytes }]
}

/** Whether these are nothing but pixels. A JPEG may have metadata of its own. */
async function arePixels(reader: ByteReader, { name, from, to }: Part, packing: number): Promise<boolean> {
  if (!PACKINGS.has(packing)) return false
  if (packing !== JPEG && !name.startsWith('JPEG')) return true
  for await (const inside of walkImage(reader, from)) {
    const { role, flaw } = inside
    if (isExtra(inside) || inside.to > to || (flaw && FLAWS[flaw.code] === 'missing')) return false
    if (role === 'image' && !(await isScan(reader, inside))) return false
  }
  return true
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
