import { createHash, type Hash } from 'node:crypto'
import { ByteReader, type ByteSource } from './byte-reader.ts'
import { FLAWS, isExtra, type Part, type Walk } from './part.ts'
import { exifStates } from './tiff-directories.ts'

/** What makes a picture look as it does, without its metadata. */
export interface ImageData {
  /** SHA-256 over all that its pixels are made of. */
  sum: Buffer
  facts: ImageFacts
  /** It has nothing that is no image data, so that its delivery does not show whether the host takes such away. */
  bare: boolean
}

/** What is not in the sum and yet changes the look, or may be lost. Two pictures are the same when these are equal too. */
export interface ImageFacts {
  /** EXIF's number for how the picture is turned. */
  orientation?: number
  /** The digest of its colour profile. */
  icc?: string
  /** How a JPEG's colours are to be read, in Adobe's segment. */
  transform?: number
  /** Bytes behind the picture's end. */
  trailer?: number
}

const EXIF = 'Exif\0\0'

/** Adds a part to what makes the picture; false: what it means is not understood. 'needed': it is no mere metadata. */
type Take = (part: Part, data: DataFold) => Promise<unknown>

/** Collects image data over a picture's parts, with a reader of its own, because the walker's has gone on. */
export class DataFold {
  readonly #source: ByteSource
  readonly #reader: ByteReader
  #icc: Hash | null = null
  readonly facts: ImageFacts = {}
  readonly sum = createHash('sha256')

  constructor(source: ByteSource) {
    this.#source = source
    this.#reader = new ByteReader(source)
  }

  /** Null: pixels or the end are missing, or something is not understood. */
  async over(walk: Walk, take: Take): Promise<ImageData | null> {
    let end = 0
    let bare = true
    for await (const part of walk(new ByteReader(this.#source))) {
      const { flaw, role, to, states } = part
      if (flaw && (FLAWS[flaw.code] === 'missing' || flaw.code === 'no_end')) return null
      if (role === 'stray' || role === 'unwritten') continue
      this.#turned(states?.orientation)
      const taken = await take(part, this)
      if (taken === false) return null
      if (taken !== 'needed' && isExtra(part)) bare = false
      end = to
      if (role === 'end') break
    }
    const icc = this.#icc?.digest('hex')
    const trailer = this.#source.size - end
    const facts = { ...this.facts, ...(icc !== undefined && { icc }), trailer }
    return { sum: this.sum.digest(), facts, bare: bare && trailer === 0 }
  }

  async add(from: number, to: number, into = this.sum): Promise<void> {
    for await (const piece of this.#reader.pieces(from, to)) into.update(piece)
  }

  bytes(from: number, to: number): Promise<Buffer> {
    return this.#reader.slice(from, to)
  }

  async text(from: number, length: number): Promise<string> {
    return (await this.bytes(from, from + length)).toString('latin1')
  }

  async profile(from: number, to: number): Promise<void> {
    this.#icc ??= createHash('sha256')
    await this.add(from, to, this.#icc)
  }

  /** Some writers put the name in front that EXIF has in a JPEG. */
  async exif(from: number): Promise<void> {
    const start = (await this.text(from, EXIF.length)) === EXIF ? from + EXIF.length : from
    this.#turned((await exifStates(this.#reader, start)).orientation)
  }

  /** The first EXIF block of a picture counts. */
  #turned(orientation?: number): void {
    if (orientation !== undefined) this.facts.orientation ??= orientation
  }
}
