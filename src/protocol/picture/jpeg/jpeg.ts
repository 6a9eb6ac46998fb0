import type { ByteReader } from '../../byte-reader.ts'
import { type FlawCode, flawed, type Part } from '../part.ts'
import { endOfZeros, ROOM } from '../zeros.ts'
import { type Announced, Announcements } from './announced.ts'
import { HOLE, walkImage } from './image.ts'

const BEGINNING = '\xff\xd8\xff'

/** The parts of a JPEG (ITU-T T.81, annex B), and of what stands behind its first image. */
export async function* walkJpeg(reader: ByteReader): AsyncGenerator<Part, void> {
  const announcements = new Announcements()
  const end = yield* walkImage(reader, 0, announcements)
  if (end === null) return
  const announced = announcements.behind(end, reader.size)
  const found = yield* walkBehind(reader, end, announced !== null)
  if (announced === null) return
  const code = await flawOf(reader, announced, found)
  const { from, to } = announced
  if (code) yield flawed({ role: 'image', name: 'second image or film', from, to, by: 'index' }, code)
}

/** The images that were found behind the first one, and where the last of all ends. */
interface Found {
  images: number
  end: number
}

/** Walks through what stands behind the first image: padding, images, which must be complete too, films, cameras' data.
 * `mayHavePadding`: metadata announce that something follows, so that zeros before it are no flaw. */
async function* walkBehind(
  reader: ByteReader,
  start: number,
  mayHavePadding: boolean,
): AsyncGenerator<Part, Found> {
  const { size } = reader
  const found: Found = { images: 0, end: start }
  for (let at = start; at < size; ) {
    const from = await endOfZeros(reader, at)
    if (from > at) {
      const padding: Part = { role: 'unwritten', name: 'padding', from: at, to: from }
      yield flawed(padding, !mayHavePadding && from - at >= ROOM && 'zeros')
    }
    if (from === size) break
    if ((await reader.slice(from, from + BEGINNING.length)).toString('latin1') === BEGINNING) {
      const end = yield* walkImage(reader, from)
      if (end === null) break
      found.images++
      found.end = at = end
    } else {
      // A film may have a hole up to the file's end, too.
      const zeros = await reader.zerosAtEnd()
      at = zeros < HOLE ? size : size - zeros
      yield { role: 'stray', name: 'trailer', from, to: at }
    }
  }
  return found
}

/** What is wrong with the images and films that metadata announce behind the first image. Editors leave them out. */
async function flawOf(
  reader: ByteReader,
  { count, from, to }: Announced,
  { images, end }: Found,
): Promise<FlawCode | false> {
  const { size } = reader
  const zeros = await reader.zerosAtEnd()
  if (images >= count) return to > size && 'length'
  if (to > size) return end === size || (from >= size && zeros === 0) ? 'announced' : 'cut'
  // Its room may be reserved and not written, or not up to the file's end.
  const start = await reader.slice(from, Math.min(to, from + ROOM))
  const isRoom = start.every(byte => byte === 0) || (zeros >= HOLE && size - zeros < to)
  return isRoom && 'unwritten'
}
