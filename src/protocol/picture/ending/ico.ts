import type { ByteReader } from './byte-reader.ts'
import { endingOfLength } from './declared-length.ts'
import { cut, type Ending } from './ending.ts'

const HEADER_LENGTH = 6
const ENTRY_LENGTH = 16

/** An ICO is as long as the images of its directory reach. */
export async function icoEnding(reader: ByteReader): Promise<Ending> {
  const count = (await reader.bytes(0, HEADER_LENGTH))?.readUInt16LE(4) ?? 0
  let end = HEADER_LENGTH + count * ENTRY_LENGTH
  for (let index = 0; index < count; index++) {
    const at = HEADER_LENGTH + index * ENTRY_LENGTH
    const entry = reader.held(at, ENTRY_LENGTH) ?? (await reader.bytes(at, ENTRY_LENGTH))
    if (entry === null) return cut('its directory is cut off')
    const [length, offset] = [entry.readUInt32LE(8), entry.readUInt32LE(12)]
    if (length === 0 || offset === 0) return cut(`its directory does not say where image ${index + 1} is`)
    end = Math.max(end, offset + length)
  }
  return endingOfLength(reader, end, 'its last image')
}
