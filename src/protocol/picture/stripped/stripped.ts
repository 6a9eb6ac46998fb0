import { createHash } from 'node:crypto'
import { ByteReader, type ByteSource } from '../../byte-reader.ts'
import type { Format } from '../../formats.ts'
import { FLAWS, MOST_PARTS, type Part } from '../part.ts'
import { exifStates } from '../tiff-directories.ts'
import { gifRules, jpegRules, pngRules, webpRules } from './containers.ts'
import { newExif } from './exif.ts'
import { PiecedSource } from './pieces.ts'
import type { Obstacle, Piece, Rules, Strip, Taken } from './rules.ts'
import { strippedTiff } from './tiff.ts'

/** What is sent of a picture without its metadata.
 * whole: its format stays as it is. made: bytes for as long as the picture's own source can be read; `hash` is their SHA-256. */
export type Stripped =
  | { kind: 'whole' }
  | { kind: 'made'; source: ByteSource; hash: Buffer }
  | { kind: 'impossible'; why: Obstacle }

/** How each format is made anew. Null: it stays whole. */
const MAKERS: Readonly<Record<Format, Rules | typeof strippedTiff | null>> = {
  ...{ jpeg: jpegRules, png: pngRules, gif: gifRules, webp: webpRules, tiff: strippedTiff },
  ...{ bmp: null, ico: null, svg: null },
}

/** Whether metadata are taken out of pictures of this format. */
export function isStripped(format: Format): boolean {
  return MAKERS[format] !== null
}

/** Takes the metadata out of a picture. What may stay is listed, and the bytes of its pixels stay as they are. Rejects only when
 * `source.read` does; memory is bounded. */
export async function stripped(format: Format, source: ByteSource, how: Strip): Promise<Stripped> {
  const maker = MAKERS[format]
  if (maker === null) return { kind: 'whole' }
  const isTiff = typeof maker === 'function'
  const pieces = isTiff ? await maker(source, how) : await strippedParts(maker, source, how)
  if (!Array.isArray(pieces)) return { kind: 'impossible', why: pieces }
  const made = new PiecedSource(source, pieces)
  const sum = createHash('sha256')
  for await (const piece of new ByteReader(made).pieces(0, made.size)) sum.update(piece)
  return { kind: 'made', source: made, hash: sum.digest() }
}

async function strippedParts(rules: Rules, source: ByteSource, how: Strip): Promise<Piece[] | Obstacle> {
  const parts = await partsOf(rules, source)
  if (!Array.isArray(parts)) return parts
  const reader = new ByteReader(source)
  const exif = await exifOf(rules, reader, parts, how)
  const taken: Taken[] = []
  for (const part of parts) {
    const piece = part === exif?.part ? exif.piece : await pieceOf(rules, part, reader)
    if (piece === undefined) return { code: 'not_understood', part: part.name, at: part.from }
    taken.push({ part, piece })
  }
  if (rules.measure?.(taken) === false) return { code: 'not_understood', part: 'frame', at: parts.at(-1)!.to }
  return [{ from: 0, to: rules.begin ?? 0 }, ...taken.flatMap(({ piece }) => piece ?? [])]
}

/** The parts up to the end, which is there or of which only the mark is missing. */
async function partsOf({ walk, end }: Rules, source: ByteSource): Promise<Part[] | Obstacle> {
  const parts: Part[] = []
  let hasEnded = end === undefined
  for await (const part of walk(new ByteReader(source))) {
    const { flaw, role } = part
    if (parts.length === MOST_PARTS) return { code: 'too_many', part: part.name, at: part.from }
    if (flaw && FLAWS[flaw.code] === 'missing') return { ...flaw, code: 'not_whole' }
    parts.push(part)
    hasEnded ||= role === 'end' || flaw?.code === 'no_end'
    if (role === 'end') break
  }
  return hasEnded ? parts : { code: 'not_whole', part: 'end', at: source.size }
}

/** What stands for a part. Undefined: the pixels may need it, and nobody knows how. */
async function pieceOf({ end, take }: Rules, part: Part, reader: ByteReader) {
  const { role, flaw, from, to } = part
  if (flaw?.code === 'no_end') return end
  if (role === 'stray' || role === 'unwritten') return null
  const takes = role === 'end' || (await take(part, reader))
  if (Buffer.isBuffer(takes)) return takes
  if (takes) return { from, to }
  return role === 'metadata' || role === 'index' ? null : undefined
}

/** The part with the new EXIF: the first that has any. Null: none has. */
async function exifOf(
  { exif: partOf }: Rules,
  reader: ByteReader,
  parts: readonly Part[],
  how: Strip,
): Promise<Taken | null> {
  let first: { part: Part; from: number } | null = null
  let orientation: number | undefined
  for (const part of parts) {
    const { exif, flaw } = part
    // Decoders pass over metadata whose check sum is wrong.
    if (exif === undefined || flaw?.code === 'stray') continue
    first ??= { part, from: exif }
    orientation ??= (await exifStates(reader, exif)).orientation
  }
  const made = first && (await newExif(reader, [first.from, first.part.to], orientation, how))
  return first && { part: first.part, piece: made && partOf!(made) }
}
