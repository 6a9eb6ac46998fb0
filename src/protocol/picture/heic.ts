import { flawed, type Part, type Walk } from './part.ts'

const HEAD = 8
/** A length that does not fit into four bytes stands in eight more. */
const LONG_HEAD = 16
const ROLES: Readonly<Record<string, Part['role']>> = { ftyp: 'header', meta: 'header', mdat: 'image' }

/** A HEIC is a row of boxes (ISO 14496-12, 4.2), the last of which ends where the file ends. What is in them a library decides:
 * see `daemon/heic`. */
export const walkHeic: Walk = async function* (reader) {
  const { size } = reader
  for (let at = 0; at < size; ) {
    const head = await reader.slice(at, Math.min(at + LONG_HEAD, size))
    const name = head.toString('latin1', 4, HEAD)
    const part: Part = { role: ROLES[name] ?? 'metadata', name, from: at, to: size, by: 'length' }
    if (!/^[\x20-\x7e]{4}$/.test(name)) {
      const isRoom = head.every(byte => byte === 0)
      yield flawed(
        { ...part, role: isRoom ? 'unwritten' : 'stray', name: 'rest' },
        isRoom ? 'unwritten' : 'broken',
        'box',
      )
      return
    }
    const length = lengthOf(head, size - at)
    yield flawed(
      { ...part, to: at + length },
      at + length > size ? 'cut' : length < HEAD && 'broken',
      `box ${name}`,
    )
    if (length < HEAD) return
    at += length
  }
  yield { role: 'end', name: 'end', from: size, to: size, by: 'length' }
}

/** How long a box says that it is, which begins `left` bytes before the file's end. */
function lengthOf(head: Buffer, left: number): number {
  const short = head.readUInt32BE(0)
  if (short === 0) return left
  if (short !== 1) return short
  return head.byteLength < LONG_HEAD ? LONG_HEAD : Number(head.readBigUInt64BE(HEAD))
}
