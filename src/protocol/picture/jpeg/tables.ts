/** The codes of markers (ITU-T T.81, table B.1). */
export const [DHT, EOI, SOS, DQT, DRI] = [0xc4, 0xd9, 0xda, 0xdb, 0xdd] as const
const COM = 0xfe
const NAMES: Readonly<Record<number, string>> = {
  ...{ [DHT]: 'DHT', [SOS]: 'SOS', [DQT]: 'DQT', [DRI]: 'DRI', [COM]: 'COM' },
}

/** The name of a code from 0xC0 on that has a segment. Rare ones, as those of JPEG's extensions, are numbered. */
export function nameOf(code: number): string {
  if (isFrame(code)) return `SOF${code & 15}`
  return NAMES[code] ?? (code >= 0xe0 && code <= 0xef ? `APP${code & 15}` : `marker ${code}`)
}

/** Whether the code is one of SOF0 to SOF15. Between these codes lie DHT, JPG and DAC, which begin no frame. */
export function isFrame(code: number): boolean {
  return code >= 0xc0 && code <= 0xcf && ![DHT, 0xc8, 0xcc].includes(code)
}

const QUANT = 32

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
  /** Its pixels are Huffman codes of whole blocks, one behind the other. */
  isSequential: boolean
  width: number
  height: number
  components: Component[]
  /** The most blocks in each direction that a component has in one unit. */
  most: { wide: number; high: number }
}

/** A component in a scan, with its tables: Huffman's for DC and AC, and the quantization table. */
interface ScanComponent extends Component {
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

/** The frame, the scan and the tables that are in force at a place in a JPEG. Tables are the last of their number. */
export class JpegTables {
  frame: Frame | null = null
  /** The components of the last scan. None: its header is not that of a scan of the frame. */
  scan: ScanComponent[] = []
  interval = 0
  /** Huffman's for DC have the keys 0 to 15, for AC those from 16 on, and quantization tables those from 32 on. */
  readonly #tables = new Map<number, Buffer>()
  readonly #scanned = new Set<number>()

  /** `body`: what follows the length of a segment. It is copied. */
  take(code: number, body: Buffer): void {
    if (isFrame(code)) this.frame = frameOf(code, body)
    if (code === SOS) this.#takeScan(body)
    if (code === DRI && body.byteLength >= 2) this.interval = body.readUInt16BE(0)
    if (code === DQT) this.#takeTables(body, id => [QUANT + (id & 15), id > 15 ? 128 : 64])
    // A Huffman table begins with 16 bytes that say how many codes there are of each length.
    if (code === DHT)
      this.#takeTables(body, (id, counts) => [id, counts.reduce((sum, count) => sum + count, 16)])
  }

  #takeTables(body: Buffer, keyAndLength: (id: number, counts: Buffer) => [number, number]): void {
    for (let at = 1, end = 0; at <= body.byteLength; at = end + 1) {
      const id = body[at - 1]!
      const [key, length] = keyAndLength(id, body.subarray(at, at + 16))
      end = at + length
      if (end <= body.byteLength && id < QUANT) this.#tables.set(key, Buffer.from(body.subarray(at, end)))
    }
  }

  #takeScan(header: Buffer): void {
    const count = header[0] ?? 0
    const scan: ScanComponent[] = []
    for (let at = 1; at < 1 + 2 * count && header.byteLength >= 4 + 2 * count; at += 2) {
      const component = this.frame?.components.find(({ id }) => id === header[at])
      const tables = header[at + 1]!
      const [dc, ac] = [this.#tables.get(tables >> 4), this.#tables.get(16 + (tables & 15))]
      if (component) scan.push({ ...component, dc, ac, table: this.#tables.get(QUANT + component.quant) })
    }
    this.scan = scan.length === count ? scan : []
    for (const { id } of this.scan) this.#scanned.add(id)
  }

  /** Whether there was a scan for each component, and each needs one alone. */
  get isScanned(): boolean {
    const { isSequential, components } = this.frame ?? {}
    return !!isSequential && components!.every(({ id }) => this.#scanned.has(id))
  }

  /** How to count the blocks of the scan. Null: they can't be counted by code lengths. */
  units(): Units | null {
    const { width, height, most, isSequential } = this.frame!
    // A scan of one component has one block a unit, and only blocks that have pixels of the picture (T.81, A.2.2).
    const [alone] = this.scan.length === 1 ? this.scan : []
    const across = Math.ceil((width * (alone?.wide ?? 1)) / (8 * most.wide))
    const down = Math.ceil((height * (alone?.high ?? 1)) / (8 * most.high))
    const blocks: Units['blocks'] = []
    for (const { dc, ac, wide, high } of this.scan) {
      if (!dc || !ac) return null
      for (let block = 0; block < (alone ? 1 : wide * high); block++) blocks.push({ dc, ac })
    }
    // The first symbol, behind 16 numbers of codes, has the code whose bits are zeros. The symbol 0 ends a block.
    const mayBeZeros = blocks.every(({ ac }) => ac[16] === 0)
    const isCountable = isSequential && across * down > 0 && blocks.length <= MOST_BLOCKS
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
  const isSequential = code === 0xc0 || code === 0xc1
  const [wide, high] = [Math.max(...components.map(c => c.wide)), Math.max(...components.map(c => c.high))]
  const [height, width] = [body.readUInt16BE(1), body.readUInt16BE(3)]
  return { isSequential, width, height, components, most: { wide, high } }
}
