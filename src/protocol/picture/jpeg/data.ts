import type { ByteSource } from '../byte-reader.ts'
import { DataFold, type ImageData } from '../data-fold.ts'
import { walkJpeg } from './jpeg.ts'
import { DHT, DQT, DRI, JpegTables, SOS } from './tables.ts'

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
export function jpegData(source: ByteSource): Promise<ImageData | null> {
  const tables = new JpegTables()
  return new DataFold(source).over(walkJpeg, async ({ name, role, from, to }, data) => {
    const start = from + START
    if (role === 'image') await data.add(from, to)
    else if (name === 'APP2' && (await data.text(start, ICC.length)) === ICC)
      await data.profile(start + ICC_START, to)
    else if (name === 'APP14' && (await data.text(start, ADOBE.length)) === ADOBE) {
      const [transform] = (await data.bytes(start, to)).subarray(TRANSFORM)
      if (transform !== undefined) data.facts.transform = transform
    } else if (role === 'header') {
      const segment = await data.bytes(from, to)
      // The length keeps what stands before and behind apart.
      for (const each of inForce(tables, segment[1] ?? 0, segment.subarray(START)))
        data.sum.update(Buffer.of(segment[1]!, each.byteLength >> 8, each.byteLength)).update(each)
    }
  })
}

const NONE: Buffer = Buffer.alloc(0)

/** What a segment makes of the picture: nothing for tables, and for a scan its tables, and the interval of restarts. A scan
 * without first coefficients (`Ss` > 0) needs no table for DC, and one of those alone none for AC; tables of the same number
 * that were there before change nothing. */
function inForce(tables: JpegTables, code: number, data: Buffer): Buffer[] {
  tables.take(code, data)
  if (code !== SOS) return REGROUPED.has(code) ? [] : [data]
  const [first, last] = data.subarray(1 + 2 * data[0]!)
  const needed = tables
    .scan(data)
    .flatMap(({ dc, ac, table }) => [first === 0 ? dc : NONE, last === 0 ? NONE : ac, table])
  return [data, ...needed.map(each => each ?? NONE), Buffer.of(tables.interval >> 8, tables.interval)]
}
