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
  const { walk, begin = 0, end, measure } = rules
  const reader = new ByteReader(source)
  const taken: Taken[] = []
  let odd: Part | undefined
  // The end is there, or only its mark is missing.
  let hasEnded = end === undefined
  for await (const part of walk(new ByteReader(source))) {
    const { name, role, flaw, from } = part
    if (taken.length === MOST_PARTS) return { code: 'too_many', part: name, at: from }
    if (flaw && FLAWS[flaw.code] === 'missing') return { ...flaw, code: 'not_whole' }
    const piece = await pieceOf(rules, part, reader)
    if (piece === undefined) odd ??= part
    taken.push({ part, piece: piece ?? null })
    hasEnded ||= role === 'end' || flaw?.code === 'no_end'
    if (role === 'end') break
  }
  if (!hasEnded) return { code: 'not_whole', part: 'end', at: source.size }
  if (odd) return { code: 'not_understood', part: odd.name, at: odd.from }
  await putExif(rules, reader, taken, how)
  const isTrue = measure?.(taken) ?? true
  if (!isTrue) return { code: 'not_understood', part: 'frame', at: taken.at(-1)!.part.to }
  return [{ from: 0, to: begin }, ...taken.flatMap(({ piece }) => piece ?? [])]
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

/** Puts a new EXIF in the place of the first one. */
async function putExif({ exif: partOf }: Rules, reader: ByteReader, taken: readonly Taken[], how: Strip) {
  // Decoders pass over metadata whose check sum is wrong.
  const found = taken.filter(({ part: { exif, flaw } }) => exif !== undefined && flaw?.code !== 'stray')
  let orientation: number | undefined
  for (const { part } of found) orientation ??= (await exifStates(reader, part.exif!)).orientation
  const [first] = found
  const made = first && (await newExif(reader, [first.part.exif!, first.part.to], orientation, how))
  if (made) first.piece = partOf!(made)
}
