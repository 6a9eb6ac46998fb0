import { be16, be32, bytes } from '../bytes.ts'

/** A segment of a JPEG. */
export function segment(code: number, ...data: Parameters<typeof bytes>): Buffer {
  const body = bytes(...data)
  return bytes(0xff, code, be16(body.byteLength + 2), body)
}

export interface Drawn {
  width?: number
  height?: number
  /** Blocks across and down in one unit, of each component, as `2x1`. */
  sampling?: string[]
  /** Units between restart markers. */
  interval?: number
  /** One colour, with codes for which its scan is all zeros. */
  isFlat?: boolean
  /** Each component has a scan of its own. */
  isApart?: boolean
  /** The code of the frame: 0xC0 is baseline. */
  code?: number
  /** Segments before the frame. */
  before?: Uint8Array
  /** The tables, instead of one segment for each. */
  tables?: Uint8Array
  /** Other blocks for each. */
  seed?: number
  /** The first two codes for AC have changed places, as in the tables that belong to it. */
  isRecoded?: boolean
}

/** Three codes of two bits each. */
export const codesOf = (...symbols: number[]) =>
  bytes(Buffer.from([0, symbols.length]), Buffer.alloc(14), ...symbols)
export const QUANT = Buffer.alloc(64, 3)
export const DC = codesOf(0, 7, 3)
/** Its first code ends a block, so that zeros are blocks. */
export const AC = codesOf(0, 0x01, 0xf0)
export const TABLES = bytes(segment(0xdb, 0, QUANT), segment(0xc4, 0, DC), segment(0xc4, 0x10, AC))

/** The tables of a JPEG that is packed with other codes, for `isRecoded`. */
export const RECODED = bytes(
  segment(0xdb, 0, QUANT),
  segment(0xc4, 0, DC),
  segment(0xc4, 0x10, codesOf(0x01, 0, 0xf0)),
)

/** A JPEG of blocks that are drawn by chance, always the same. */
export function drawn(options: Drawn = {}): Buffer {
  const {
    width = 160,
    height = 120,
    sampling: samplings = ['1x1'],
    interval = 0,
    isFlat = false,
    isApart = false,
    isRecoded = false,
    seed = 7,
  } = options
  const { code = 0xc0, before = Buffer.alloc(0), tables = TABLES } = options
  const sampling = samplings.map(each => each.split('x').map(Number) as [number, number])
  const components = sampling.map(([across, down], id) => bytes(id + 1, (across << 4) | down, 0))
  const head = segment(code, 8, be16(height), be16(width), sampling.length, ...components)
  const most = Math.max(...sampling.map(([across]) => across))
  const highest = Math.max(...sampling.map(([, down]) => down))
  const chance = chanceOf(seed)
  const scan = (ids: number[]) => {
    const [[across, down]] = [sampling[ids[0]!]!]
    const alone = ids.length === 1
    const units = alone
      ? Math.ceil(Math.ceil((width * across) / most) / 8) *
        Math.ceil(Math.ceil((height * down) / highest) / 8)
      : Math.ceil(width / (8 * most)) * Math.ceil(height / (8 * highest))
    const blocks = alone ? 1 : ids.reduce((sum, id) => sum + sampling[id]![0] * sampling[id]![1], 0)
    const header = segment(0xda, ids.length, ...ids.map(id => bytes(id + 1, 0)), 0, 63, 0)
    return bytes(
      header,
      coded(units, blocks, interval, isFlat, () => one(chance, isRecoded)),
    )
  }
  const ids = sampling.map((_, id) => id)
  const scans = isApart ? ids.map(id => scan([id])) : [scan(ids)]
  const restart = interval > 0 ? segment(0xdd, be16(interval)) : Buffer.alloc(0)
  return bytes(0xff, 0xd8, before, tables, restart, head, ...scans, 0xff, 0xd9)
}

/** The bytes of a scan: `blocks` blocks in each of `units` units. */
function coded(
  units: number,
  blocks: number,
  interval: number,
  isFlat: boolean,
  block: () => string,
): Buffer {
  const pieces: Uint8Array[] = []
  const most = interval || units
  for (let unit = 0; unit < units; unit += most) {
    let bits = ''
    for (let nth = 0; nth < blocks * Math.min(most, units - unit); nth++) bits += isFlat ? '0000' : block()
    if (unit > 0) pieces.push(bytes(0xff, 0xd0 + ((unit / most - 1) % 8)))
    pieces.push(stuffed(bits))
  }
  return bytes(...pieces)
}

/** A block: seven bits of brightness, some coefficients, and the code that ends it. */
function one(chance: () => number, isRecoded: boolean): string {
  const value = (chance() & 0x7f).toString(2).padStart(7, '0')
  const [coefficient, end] = isRecoded ? ['00', '01'] : ['01', '00']
  return `01${value}${Array.from({ length: chance() % 12 }, () => `${coefficient}${chance() % 2}`).join('')}${end}`
}

function stuffed(bits: string): Buffer {
  const whole = bits.padEnd(8 * Math.ceil(bits.length / 8), '1')
  const found = (whole.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2))
  return Buffer.from(found.flatMap(byte => (byte === 0xff ? [byte, 0] : [byte])))
}

/** Numbers by chance, the same for each seed. */
export function chanceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return state >> 8
  }
}

/** The offset of a JPEG's first scan. */
export function scanOf(file: Buffer): number {
  const at = file.indexOf(Buffer.from([0xff, 0xda]))
  return at + 2 + file.readUInt16BE(at + 2)
}

/** The index of a multi-picture file as the data of its segment. Offsets count from the fifth byte. */
export function mpf(...images: { at: number; length: number }[]): Buffer {
  const entries = images.map(({ at, length }) => bytes(be32(0), be32(length), be32(at), be32(0)))
  const tag = bytes(be16(0xb002), be16(7), be32(16 * images.length), be32(26))
  return bytes('MPF\0MM', be16(42), be32(8), be16(1), tag, be32(0), ...entries)
}

/** The segment of a JPEG with an index that names a second image so many bytes behind the segment's begin. */
export function mpfSegment(at: number, length: number): Buffer {
  return segment(0xe2, mpf({ at: 0, length: 1 }, { at: at - 8, length }))
}
