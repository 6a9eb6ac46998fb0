/** The codes of markers (ITU-T T.81, table B.1). */
export const [DHT, EOI, SOS, DQT, DRI] = [0xc4, 0xd9, 0xda, 0xdb, 0xdd] as const

const NAMES: Readonly<Record<number, string>> = {
  [DHT]: 'DHT',
  [SOS]: 'SOS',
  [DQT]: 'DQT',
  [DRI]: 'DRI',
  254: 'COM',
}

/** The name of a code from 0xC0 on that has a segment. Rare ones, as those of JPEG's extensions, are numbered. */
export function nameOf(code: number): string {
  const kind = isFrame(code) ? 'SOF' : code >= 0xe0 && code <= 0xef ? 'APP' : 'marker '
  return NAMES[code] ?? `${kind}${kind === 'marker ' ? code : code & 15}`
}

/** Whether the code is that of APPn, JPGn or COM. */
export function isMetadata(code: number): boolean {
  return code >= 0xe0 && code <= 0xfe
}

/** Whether the code is one of SOF0 to SOF15. Between these codes lie DHT, JPG and DAC, which begin no frame. */
export function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && code !== DHT && code !== 0xc8 && code !== 0xcc
}

/** Frames whose pixels are Huffman codes of whole blocks, one behind the other. */
const SEQUENTIAL = new Set([0xc0, 0xc1])
/** Where the symbol of the first code stands in a Huffman table. The bits of this code are zeros. */
const FIRST_SYMBOL = 16
const END_OF_BLOCK = 0

/** libjpeg refuses scans with more blocks in one unit (T.81, B.2.3). */
const MOST_BLOCKS = 10

interface Component {
  id: number
  /** Blocks in each direction in one unit of an interleaved scan. */
  wide: number
  high: number
  quant: number
}

interface Frame {
  code: number
  width: number
  height: number
  components: Component[]
}

/** A component in a scan, with its tables: Huffman's for DC and AC, and the quantization table. */
export interface ScanComponent extends Component {
  dc: Buffer | undefined
  ac: Buffer | undefined
  table: Buffer | undefined
}

/** What a decoder must know to count the blocks of a scan. `blocks`: those of one unit, in their order. */
export interface Units {
  count: number
  /** A restart marker stands behind so many units. 0: none does. */
  interval: number
  blocks: { dc: Buffer; ac: Buffer }[]
  /** Many zeros may be blocks of one colour, because the code of zeros ends a block. Otherwise each of their blocks would have
   * all coefficients, and all the same ones. */
  mayBeZeros: boolean
}

/** The frame and the tables that are in force at a place in a JPEG. They are the last of their number. */
export class JpegTables {
  frame: Frame | null = null
  interval = 0
  readonly #quant = new Map<number, Buffer>()
  /** DC tables have the keys 0 to 15, AC tables those from 16 on. */
  readonly #huffman = new Map<number, Buffer>()

  /** `body`: what follows the length of a segment. It is copied. */
  take(code: number, body: Buffer): void {
    if (isFrame(code)) this.frame = frameOf(code, body)
    if (code === DRI && body.byteLength >= 2) this.interval = body.readUInt16BE(0)
    if (code === DQT) putTables(this.#quant, body, 15, at => (body[at]! > 15 ? 129 : 65))
    if (code === DHT) putTables(this.#huffman, body, 31, at => 17 + codesAt(body, at))
  }

  /** The components of a scan with this header. None: the header is not that of a scan of the frame. */
  scan(header: Buffer): ScanComponent[] {
    const count = header[0] ?? 0
    if (header.byteLength < 4 + 2 * count) return []
    const found: ScanComponent[] = []
    for (let at = 1; at < 1 + 2 * count; at += 2) {
      const component = this.frame?.components.find(({ id }) => id === header[at])
      const tables = header[at + 1]!
      if (component === undefined) return []
      const [dc, ac] = [this.#huffman.get(tables >> 4), this.#huffman.get(16 + (tables & 15))]
      found.push({ ...component, dc, ac, table: this.#quant.get(component.quant) })
    }
    return found
  }

  get isSequential(): boolean {
    return SEQUENTIAL.has(this.frame?.code ?? 0)
  }

  /** How to count the blocks of a scan. Null: they can't be counted by code lengths. */
  units(scan: readonly ScanComponent[]): Units | null {
    const { width, height, components } = this.frame!
    const most = Math.max(...components.map(c => c.wide))
    const highest = Math.max(...components.map(c => c.high))
    // A scan of one component has one block a unit, and only blocks that have pixels of the picture (T.81, A.2.2).
    const [alone] = scan.length === 1 ? scan : []
    const across = Math.ceil((width * (alone?.wide ?? 1)) / (8 * most))
    const down = Math.ceil((height * (alone?.high ?? 1)) / (8 * highest))
    const blocks: Units['blocks'] = []
    for (const { dc, ac, wide, high } of scan) {
      if (!dc || !ac) return null
      for (let block = 0; block < (alone ? 1 : wide * high); block++) blocks.push({ dc, ac })
    }
    const mayBeZeros = blocks.every(({ ac }) => ac[FIRST_SYMBOL] === END_OF_BLOCK)
    const isCountable = this.isSequential && across * down > 0 && blocks.length <= MOST_BLOCKS
    return isCountable ? { count: across * down, interval: this.interval, blocks, mayBeZeros } : null
  }
}

/** The frame header: sample precision (1 byte), height (2), width (2), number of components (1), 3 for each. */
function frameOf(code: number, body: Buffer): Frame | null {
  if (body.byteLength < 5) return null
  const components: Component[] = []
  for (let at = 6; at + 3 <= body.byteLength && components.length < body[5]!; at += 3) {
    const [id, sampling, quant] = [body[at]!, body[at + 1]!, body[at + 2]!]
    components.push({ id, wide: sampling >> 4, high: sampling & 15, quant })
  }
  return { code, width: body.readUInt16BE(3), height: body.readUInt16BE(1), components }
}

/** Puts the tables of a segment under their numbers, which are the bits of `mask` in their first bytes. */
function putTables(
  into: Map<number, Buffer>,
  body: Buffer,
  mask: number,
  lengthAt: (at: number) => number,
): void {
  for (let at = 0, end = 0; at < body.byteLength; at = end) {
    end = at + lengthAt(at)
    if (end <= body.byteLength && body[at]! < 32)
      into.set(body[at]! & mask, Buffer.from(body.subarray(at + 1, end)))
  }
}

/** How many codes the Huffman table at this offset has: 16 bytes say how many there are of each length. */
function codesAt(body: Buffer, at: number): number {
  return body.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)
}
