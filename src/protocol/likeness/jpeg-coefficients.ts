import type { Hash } from 'node:crypto'
import type { ByteSource } from '../byte-reader.ts'
import { EntropyBits, type HuffmanCode, huffmanCode } from '../entropy.ts'
import { DataFold } from '../picture/image-data.ts'
import { walkJpeg } from '../picture/jpeg/jpeg.ts'
import { isFrame, JpegTables, SOS } from '../picture/jpeg/tables.ts'

/** The bytes of a segment before its data: marker and length. */
const START = 4
/** The frames of Huffman codes that are understood: baseline, extended and progressive (ITU-T T.81, table B.1). */
const PROGRESSIVE = 0xc2
const UNDERSTOOD = new Set([0xc0, 0xc1, PROGRESSIVE])
/** The most coefficients, which take 256 MB of memory. */
const MOST = 2 ** 27

/** The place of each coefficient in its block, in the order in which they are coded (T.81, figure A.6). */
const ZIGZAG = Uint8Array.from(
  [
    [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48],
    [41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15],
    [23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
  ].flat(),
)

/** A digest of the first image's coefficients and of what scales them, which does not depend on how they are packed. Null: the
 * picture is not whole, too large, or not understood. Holds the whole picture in memory. */
export async function jpegCoefficients(source: ByteSource): Promise<Buffer | null> {
  const decoder = new Decoder()
  const folded = await new DataFold(source).over(walkJpeg, async ({ role, from, to }, data) => {
    if (role === 'header') return decoder.header(await data.reader.slice(from, to))
    if (role === 'image') return decoder.scan(await source.read(from, to - from))
    return role !== 'end' || decoder.digest(data.sum)
  })
  return folded?.sum ?? null
}

/** A component's coefficients. `across`, `down`: its blocks with pixels of the picture. `wide`: all blocks in a row. */
interface Plane {
  across: number
  down: number
  wide: number
  sampling: [number, number]
  coefficients: Int16Array
  scaledBy: Buffer | null
  /** The last DC coefficient. The next one is coded as a difference from it. */
  predicted: number
}

interface ScanPlane {
  plane: Plane
  sampling: [number, number]
  dc: HuffmanCode | null
  ac: HuffmanCode | null
}

/** Which coefficients a scan has, from `first` to `last`, and which of their bits. `high`: 0 the first time. */
interface Spectrum {
  first: number
  last: number
  high: number
  low: number
}

class Decoder {
  readonly #tables = new JpegTables()
  readonly #planes = new Map<number, Plane>()
  #units = { across: 0, down: 0 }
  #isProgressive = false
  #scan: { planes: ScanPlane[]; spectrum: Spectrum } | null = null

  /** Takes a segment with its marker. False: it is not understood. */
  header(segment: Buffer): boolean {
    const [code, data] = [segment[1] ?? 0, segment.subarray(START)]
    this.#tables.take(code, data)
    if (isFrame(code)) return UNDERSTOOD.has(code) && data[0] === 8 && this.#begin(code)
    return code !== SOS || this.#beginScan(data)
  }

  #begin(code: number): boolean {
    const frame = this.#tables.frame
    if (frame === null || frame.components.length === 0 || this.#planes.size > 0) return false
    const { width, height, components, most } = frame
    if (most.wide === 0 || most.high === 0) return false
    this.#isProgressive = code === PROGRESSIVE
    this.#units = { across: Math.ceil(width / (8 * most.wide)), down: Math.ceil(height / (8 * most.high)) }
    for (const { id, wide: h, high: v } of components) {
      const wide = this.#units.across * h
      const count = 64 * wide * this.#units.down * v
      if (count > MOST / components.length) return false
      this.#planes.set(id, {
        across: Math.ceil(Math.ceil((width * h) / most.wide) / 8),
        down: Math.ceil(Math.ceil((height * v) / most.high) / 8),
        wide,
        sampling: [h, v],
        coefficients: new Int16Array(count),
        scaledBy: null,
        predicted: 0,
      })
    }
    return true
  }

  #beginScan(data: Buffer): boolean {
    const planes = this.#tables.scan.flatMap(({ id, wide, high, dc, ac, table }): ScanPlane[] => {
      const plane = this.#planes.get(id)
      if (!plane) return []
      plane.scaledBy ??= table ?? null
      return [{ plane, sampling: [wide, high], dc: huffmanCode(dc), ac: huffmanCode(ac) }]
    })
    const [first = 0, last = 0, bits = 0] = data.subarray(1 + 2 * (data[0] ?? 0))
    const spectrum = { first, last, high: bits >> 4, low: bits & 15 }
    const isWhole = !this.#isProgressive || (first === 0 ? last === 0 : planes.length === 1)
    this.#scan = { planes, spectrum }
    const codes = ({ dc, ac }: ScanPlane) =>
      (first > 0 || spectrum.high > 0 || dc !== null) && (last === 0 || ac !== null)
    return planes.length > 0 && planes.length === data[0] && last < 64 && isWhole && planes.every(codes)
  }

  /** Takes the compressed pixels of a scan. */
  scan(bytes: Uint8Array): boolean {
    if (this.#scan === null) return false
    const { planes, spectrum } = this.#scan
    const { interval } = this.#tables
    const bits = new EntropyBits(bytes)
    const alone = planes.length === 1
    const { across, down } = alone ? planes[0]!.plane : this.#units
    const blocks = new Blocks(bits, this.#isProgressive, spectrum)
    for (let unit = 0; unit < across * down; unit++) {
      if (unit === 0 || (interval > 0 && unit % interval === 0)) {
        if (unit > 0) bits.restart()
        blocks.skips = 0
        for (const { plane } of planes) plane.predicted = 0
      }
      const [x, y] = [unit % across, Math.floor(unit / across)]
      for (const each of planes) blocks.takeUnit(each, x, y, alone ? [1, 1] : each.sampling)
    }
    this.#scan = null
    return true
  }

  /** Adds the coefficients. Blocks that only fill the last units are left out, because programs pack them as they like. */
  digest(sum: Hash): boolean {
    const { width, height } = this.#tables.frame ?? {}
    sum.update(`${width}x${height}`)
    for (const { sampling, scaledBy, coefficients, wide, across, down } of this.#planes.values()) {
      if (scaledBy === null) return false
      sum.update(`${sampling.join('x')} ${scaledBy.byteLength}`).update(scaledBy)
      for (let y = 0; y < down; y++)
        sum.update(new Uint8Array(coefficients.buffer, 128 * y * wide, 128 * across))
    }
    return this.#planes.size > 0
  }
}

/** Decodes the blocks of one scan (T.81, F.2.2 and G.2). */
class Blocks {
  /** How many further blocks have no coefficients in this scan. */
  skips = 0
  readonly #bits: EntropyBits
  readonly #isProgressive: boolean
  readonly #spectrum: Spectrum

  constructor(bits: EntropyBits, isProgressive: boolean, spectrum: Spectrum) {
    this.#bits = bits
    this.#isProgressive = isProgressive
    this.#spectrum = spectrum
  }

  /** Takes a component's blocks in one unit: `high` rows of `wide` blocks. */
  takeUnit(scan: ScanPlane, x: number, y: number, [wide, high]: [number, number]): void {
    for (let row = y * high; row < (y + 1) * high; row++)
      for (let block = x * wide; block < (x + 1) * wide; block++)
        this.#take(scan, 64 * (row * scan.plane.wide + block))
  }

  /** Takes a block. `at`: where its coefficients begin. */
  #take({ plane, dc, ac }: ScanPlane, at: number): void {
    const { first, high, low } = this.#spectrum
    const { coefficients } = plane
    if (!this.#isProgressive) {
      coefficients[at] = plane.predicted += this.#bits.value(this.#bits.symbol(dc!))
      this.#whole(coefficients, ac!, at)
    } else if (first === 0 && high === 0) {
      plane.predicted += this.#bits.value(this.#bits.symbol(dc!))
      coefficients[at] = plane.predicted * (1 << low)
    } else if (first === 0) {
      if (this.#bits.take(1) === 1) coefficients[at]! |= 1 << low
    } else if (high === 0) this.#firstBits(coefficients, ac!, at)
    else this.#nextBit(coefficients, ac!, at)
  }

  #whole(into: Int16Array, ac: HuffmanCode, at: number): void {
    for (let k = 1; k < 64; ) {
      const symbol = this.#bits.symbol(ac)
      const [zeros, length] = [symbol >> 4, symbol & 15]
      if (length === 0 && zeros < 15) return
      k += zeros
      if (length > 0) into[at + ZIGZAG[k]!] = this.#bits.value(length)
      k++
    }
  }

  #firstBits(into: Int16Array, ac: HuffmanCode, at: number): void {
    if (this.skips > 0) {
      this.skips--
      return
    }
    const { first, last, low } = this.#spectrum
    for (let k = first; k <= last; k++) {
      const symbol = this.#bits.symbol(ac)
      const [zeros, length] = [symbol >> 4, symbol & 15]
      if (length === 0 && zeros < 15) {
        this.skips = (1 << zeros) - 1 + this.#bits.take(zeros)
        return
      }
      k += zeros
      if (length > 0) into[at + ZIGZAG[k]!] = this.#bits.value(length) * (1 << low)
    }
  }

  #nextBit(into: Int16Array, ac: HuffmanCode, at: number): void {
    const { first, last, low } = this.#spectrum
    const bit = 1 << low
    let k = first
    while (this.skips === 0 && k <= last) {
      const symbol = this.#bits.symbol(ac)
      const zeros = symbol >> 4
      const isNew = (symbol & 15) > 0
      if (!isNew && zeros < 15) {
        this.skips = (1 << zeros) + this.#bits.take(zeros)
        break
      }
      const value = isNew ? (this.#bits.take(1) === 1 ? bit : -bit) : 0
      k = this.#refine(into, at, k, zeros)
      if (k <= last && value !== 0) into[at + ZIGZAG[k]!] = value
      k++
    }
    if (this.skips === 0) return
    this.#refine(into, at, k, 64)
    this.skips--
  }

  /** Gives coefficients that are not zero their next bit, up to the place behind `zeros` zeros. Returns this place. */
  #refine(into: Int16Array, at: number, from: number, zeros: number): number {
    const { last, low } = this.#spectrum
    const bit = 1 << low
    for (let k = from, left = zeros; k <= last; k++) {
      const place = at + ZIGZAG[k]!
      const value = into[place]!
      if (value === 0) {
        if (left-- === 0) return k
      } else if (this.#bits.take(1) === 1 && (Math.abs(value) & bit) === 0)
        into[place] = value + (value > 0 ? bit : -bit)
    }
    return last + 1
  }
}
