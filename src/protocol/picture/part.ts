import type { ByteReader } from '../byte-reader.ts'

/** What a part of a picture's file is for.
 * header: the pixels need it to be read: dimensions, tables, palettes. image: pixels. metadata: programs show the picture
 * without it. index: says where other parts lie. stray: belongs to nothing. unwritten: zeros where nothing or something else
 * belongs. end: the format's end mark, or, without bytes, the place at which the stated length ends. */
export type Role = 'header' | 'image' | 'metadata' | 'index' | 'stray' | 'unwritten' | 'end'

/** A part of a picture's file, as its walker found it. */
export interface Part {
  role: Role
  /** The format's own name of such a part, as `IDAT`, `APP1` or `strip 3`. */
  name: string
  from: number
  /** The offset behind its last byte. It lies behind the file's end when the part is cut off. */
  to: number
  /** What vouches for its bytes, besides that it can be read. */
  by?: 'length' | 'index' | 'checksum'
  /** What is wrong with it; a walker may go on behind it. */
  flaw?: Flaw
  /** What it says of the whole picture. */
  states?: Stated
  /** Where its EXIF begins, or its colour profile. */
  exif?: number
  profile?: number
}

export interface Stated {
  /** Pixels as stored, without EXIF's orientation. */
  width?: number
  height?: number
  /** EXIF's number for how the picture is turned. */
  orientation?: number
  /** A camera's raw picture, which is built like one of our formats. */
  raw?: true
}

/** Only a crafted file has more parts. */
export const MOST_PARTS = 200_000

/** The parts in the order in which the format names them. Rejects only when the source's `read` does. */
export type Walk = (reader: ByteReader) => AsyncGenerator<Part, void>

/** What may be wrong with a part, and what becomes of the picture by it.
 * missing: bytes that the pixels need, or that a length, an index or a check sum vouches for, are absent or others.
 * odd: all that the pixels need is there, and the form is broken. zeros: odd, and only zeros that may be pixels. */
export const FLAWS = {
  /** The part, or what it names, goes on behind the file's end. */
  cut: 'missing',
  /** Zeros stand where the part belongs: its room is reserved and not written. */
  unwritten: 'missing',
  /** The check sum is not that of the bytes. */
  checksum: 'missing',
  /** A header or the first pixels are not there. */
  no_pixels: 'missing',
  /** The pixels end before the last row. */
  rows: 'missing',
  /** Something else stands where the part belongs, and what follows can't be found. */
  broken: 'missing',
  /** The pixels are all there, and the end mark is not. */
  no_end: 'odd',
  /** A stated length or offset is not true, and the pixels are there without it. */
  length: 'odd',
  /** Bytes stand between two parts that belong to neither, or a part's form is broken and the pixels do not need it. */
  stray: 'odd',
  /** The check sum is not that of the bytes, and the pixels have a second one, which is. */
  one_checksum: 'odd',
  /** What an index announces is wholly absent. */
  announced: 'odd',
  /** A long stretch of zeros among pixels, which may be dark pixels. */
  zeros: 'zeros',
} as const satisfies Record<string, 'missing' | 'odd' | 'zeros'>

export type FlawCode = keyof typeof FLAWS

/** `part`: its name for a person. `at`: the offset at which it shows. */
export interface Flaw {
  code: FlawCode
  part: string
  at: number
}

/** Segments of a JPEG that say how its pixels are to be read, which programs write that leave all others out. */
const LEFT_IN: ReadonlySet<string> = new Set(['APP0', 'APP14'])

/** Whether programs that take metadata out of a picture take this part. */
export function isExtra({ role, name }: Part): boolean {
  return role === 'metadata' && !LEFT_IN.has(name)
}

/** The part, with this flaw if there is a code. Unless `at` says where the flaw shows, that is at the part's beginning, and
 * where the part is cut, at its end. */
export function flawed(
  part: Part,
  code: FlawCode | false | null | undefined,
  named = part.name,
  at: number | null = code === 'cut' ? part.to : part.from,
): Part {
  return code ? { ...part, flaw: { code, part: named, at: at ?? part.from } } : part
}

/** Whether all of a picture is there, by its structure alone.
 * closed: it is. `early`: the file ends with the picture's end, so its writer has finished. Otherwise more bytes follow the
 * end, or may follow. odd: all that its pixels need is there, and the form is broken. missing: it is not. */
export type Verdict = { kind: 'closed'; early: boolean } | ({ kind: 'odd' | 'missing' } & Flaw)

const BADNESS = { zeros: 1, odd: 2, missing: 3 }

/** The verdict about the parts of a file of `size` bytes: the worst flaw decides, the first of its kind is named. */
export class VerdictFold {
  #worst: Flaw | null = null
  #last: Part | null = null

  take(part: Part): void {
    this.#last = part
    const badness = (flaw?: Flaw | null) => (flaw ? BADNESS[FLAWS[flaw.code]] : 0)
    if (badness(part.flaw) > badness(this.#worst)) this.#worst = part.flaw!
  }

  verdict(size: number): Verdict {
    const [worst, last] = [this.#worst, this.#last]
    if (worst === null) return { kind: 'closed', early: last?.role === 'end' && last.to === size }
    const kind = FLAWS[worst.code] === 'missing' ? 'missing' : 'odd'
    return { kind, ...worst, at: Math.min(worst.at, size) }
  }
}
