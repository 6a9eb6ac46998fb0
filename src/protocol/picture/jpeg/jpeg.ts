import type { ByteReader } from '../../byte-reader.ts'
import { type FlawCode, flawed, type Part } from '../part.ts'
import { endOfZeros, ROOM } from '../zeros.ts'
import { type Announced, Announcements } from './announced.ts'
import { HOLE, walkImage } from './image.ts'

const BEGINNING = '\xff\xd8\xff'

/** The parts of a JPEG (ITU-T T.81, annex B), and of what stands behind its first image: padding, further images, which must be
 * complete too, films, cameras' data. */
export async function* walkJpeg(reader: ByteReader): AsyncGenerator<Part, void> {
  const { size } = reader
  const announcements = new Announcements()
  const first = yield* walkImage(reader, 0, announcements)
  if (first === null) return
  const announced = announcements.behind(first, size)
  let [images, end] = [0, first]
  for (let at = first; at < size; ) {
    const from = await endOfZeros(reader, at)
    const padding: Part = { role: 'unwritten', name: 'padding', from: at, to: from }
    if (from > at) yield flawed(padding, announced === null && from - at >= ROOM && 'zeros')
    if (from === size) break
    if ((await reader.slice(from, from + BEGINNING.length)).toString('latin1') === BEGINNING) {
      const behind = yield* walkImage(reader, from)
      if (behind === null) break
      images++
      end = at = behind
    } else {
      // A film may have a hole up to the file's end, too.
      const zeros = await reader.zerosAtEnd()
      at = zeros < HOLE ? size : size - zeros
      yield { role: 'stray', name: 'trailer', from, to: at }
    }
  }
  if (announced === null) return
  const { from, to } = announced
  const part: Part = { role: 'image', name: 'second image or film', from, to, by: 'index' }
  const code = await flawOf(reader, announced, images, end)
  if (code) yield flawed(part, code)
}

/** What is wrong with the images and films that metadata announce behind the first image. Editors leave them out. `images`: so
 * many were found there. `end`: where the last of all ends. */
async function flawOf(
  reader: ByteReader,
  { count, from, to }: Announced,
  images: number,
  end: number,
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
