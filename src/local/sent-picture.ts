import type { ByteSource } from '../protocol/byte-reader.ts'
import { FORMATS, type Format } from '../protocol/formats.ts'
import type { Obstacle, Strip } from '../protocol/picture/stripped/rules.ts'
import { isStripped, stripped } from '../protocol/picture/stripped/stripped.ts'
import { because, type Reason } from '../words/reasons.ts'
import { provedChunks } from './hashed-source.ts'
import type { OpenPicture } from './picture-file.ts'

/** What is sent of a picture, for as long as it is open. */
export interface SentPicture
  extends Pick<OpenPicture, 'hash' | 'source' | 'memory' | 'chunks' | 'bare' | 'picture'> {
  size: number
  /** How it was made, and by which version of what makes it. Null: it is the file as it lies there. */
  how: string | null
}

/** Makes what is sent of the file at this path. Returns the reason when that can't be done for sure. */
export type Maker = (
  open: OpenPicture,
  at: { root: string; path: string },
  signal: AbortSignal,
) => Promise<SentPicture | Reason>

/** Whether the library's version decides about the bytes: another one makes others of the same file. */
export function isConverted({ how }: Pick<SentPicture, 'how'>): boolean {
  return how?.startsWith(CONVERTED) === true
}

/** How a JPEG of a HEIC is made: its quality. What of the metadata was taken out follows, and who made it. */
export const CONVERTED = 'jpeg92'

export function asItLies(open: OpenPicture): SentPicture {
  return { ...open, size: open.look.size, how: null }
}

/** What was made of a picture, with this hash. `changed`: as in `OpenOptions`. */
export function asMade(
  source: ByteSource,
  { hash, picture, how }: Pick<SentPicture, 'hash' | 'picture' | 'how'>,
  changed: () => Error,
): SentPicture {
  const { size } = source
  const read = async (at: number, length: number) => Buffer.from(await source.read(at, length))
  const chunks = () => provedChunks(read, { size, hash }, changed)
  return { hash, size, source, memory: null, chunks, bare: false, picture, how }
}

const WHY_NOT = { not_whole: 'strip_not_whole', not_understood: 'strip_not_understood' } as const

function whyNot({ code, part, at }: Obstacle): Reason {
  const why = code === 'too_many' ? because('strip_too_many') : because(WHY_NOT[code], { part, at })
  return because('metadata_stay', { why })
}

/** A new version of what strips sends nothing anew: this only tells how an image was made. */
const VERSION = 1

/** Which images may have what is taken out now: those of these types that were not made, or made like this pattern of SQL. */
export function madeLessThan(strip: Strip): { types: string; like: string } {
  const types = Object.entries(FORMATS).flatMap(([format, { mime }]) =>
    isStripped(format as Format) ? [mime] : [],
  )
  return { types: JSON.stringify(types), like: strip === 'all' ? '%.location.%' : '' }
}

/** `changed`: as in `OpenOptions`. */
export function stripping(strip: Strip, changed: () => Error): Maker {
  const how = `strip.${strip}.${VERSION}`
  return async open => {
    const { picture } = open
    const made = picture && (await stripped(picture.format, open.source, strip))
    if (made === null || made.kind === 'whole') return asItLies(open)
    if (made.kind === 'impossible') return whyNot(made.why)
    if (made.hash.equals(open.hash)) return { ...asItLies(open), how }
    return asMade(made.source, { hash: made.hash, picture, how }, changed)
  }
}
