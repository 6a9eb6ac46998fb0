import { createHash, type Hash } from 'node:crypto'
import { ByteReader, type ByteSource } from './byte-reader.ts'
import type { ImageData, ImageFacts } from './image-facts.ts'
import { walkJpeg } from './jpeg.ts'
import { DHT, DQT, DRI, JpegTables, SOS } from './jpeg-tables.ts'
import { FLAWS, type Part } from './part.ts'

const MARKER = 2
/** Bytes before a segment's data: its marker and its length. */
const START = 4
/** Segments that only say what is in force for the scans behind them. */
const REGROUPED: ReadonlySet<number> = new Set([DHT, DQT, DRI])
const ICC = 'ICC_PROFILE\0'
/** Behind the name, an ICC segment has its number and how many there are. */
const ICC_START = ICC.length + 2
const ADOBE = 'Adobe'
/** Where Adobe's segment has the colours' transform. */
const TRANSFORM = 11

/** The image data of a JPEG's first image: its frame, and each scan with the tables in force, however they are grouped. */
export async function jpegData(source: ByteSource): Promise<ImageData | null> {
  const fold = new JpegDataFold(source)
  for await (const part of walkJpeg(new ByteReader(source))) {
    if (part.flaw && FLAWS[part.flaw.code] !== 'odd') return null
    await fold.take(part)
    if (part.role === 'end') return part.flaw ? null : fold.data(source.size - part.to)
  }
  return null
}

class JpegDataFold {
  readonly #reader: ByteReader
  readonly #sum = createHash('sha256')
  readonly #tables = new JpegTables()
  readonly #facts: ImageFacts = {}
  #icc: Hash | null = null

  constructor(source: ByteSource) {
    // The walker has a reader of its own, which has gone on.
    this.#reader = new ByteReader(source)
  }

  async take(part: Part): Promise<void> {
    const { orientation } = part.states ?? {}
    if (orientation !== undefined) this.#facts.orientation ??= orientation
    if (part.role === 'image')
      for await (const piece of this.#reader.pieces(part.from, part.to)) this.#sum.update(piece)
    if (part.role === 'header' || /^APP(?:2|14)$/.test(part.name)) await this.#segment(part)
  }

  data(trailer: number): ImageData {
    const icc = this.#icc?.digest('hex')
    return { sum: this.#sum.digest(), facts: { ...this.#facts, ...(icc !== undefined && { icc }), trailer } }
  }

  async #segment({ from, to, role }: Part): Promise<void> {
    const code = (await this.#reader.bytes(from, MARKER))?.[1] ?? 0
    const length = Math.max(0, to - from - START)
    const data = (await this.#reader.bytes(from + START, length))?.subarray(0, length)
    if (data === undefined) return
    if (role === 'header') this.#header(code, data)
    else this.#metadata(data)
  }

  #header(code: number, data: Buffer): void {
    this.#tables.take(code, data)
    if (REGROUPED.has(code)) return
    this.#put(code, data)
    if (code !== SOS) return
    for (const { dc, ac, table } of this.#tables.scan(data) ?? [])
      for (const each of needed(data, dc, ac, table)) this.#put(0, each)
    this.#put(DRI, Buffer.of(this.#tables.interval >> 8, this.#tables.interval))
  }

  /** The length keeps what stands before and behind apart. */
  #put(code: number, data: Buffer): void {
    this.#sum.update(Buffer.of(code, data.byteLength >> 8, data.byteLength)).update(data)
  }

  #metadata(data: Buffer): void {
    const text = data.toString('latin1', 0, ICC.length)
    if (text === ICC) this.#icc = (this.#icc ?? createHash('sha256')).update(data.subarray(ICC_START))
    if (text.startsWith(ADOBE) && data.byteLength > TRANSFORM) this.#facts.transform = data[TRANSFORM]!
  }
}

const NONE: Buffer = Buffer.alloc(0)

/** The tables that a scan needs. One without first coefficients (`Ss` > 0) needs none for DC, and one of those alone none for
 * AC; tables of the same number that were there before change nothing. */
function needed(header: Buffer, dc = NONE, ac = NONE, table = NONE): Buffer[] {
  const [first, last] = header.subarray(1 + 2 * header[0]!)
  return [first === 0 ? dc : NONE, last === 0 ? NONE : ac, table]
}
