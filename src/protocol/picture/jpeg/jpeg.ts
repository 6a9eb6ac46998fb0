import { ByteReader } from '../byte-reader.ts'
import { flawed, type Part } from '../part.ts'
import { endOfZeros, ROOM } from '../zeros.ts'
import { type Announced, Announcements } from './announced.ts'
import { HOLE, walkImage } from './image.ts'

const BEGINNING = '\xff\xd8\xff'

/** The parts of a JPEG (ITU-T T.81, annex B), and of what stands behind its first image. */
export async function* walkJpeg(reader: ByteReader): AsyncGenerator<Part, void> {
  const announcements = new Announcements()
  const end = yield* walkImage(reader, 0, '', announcements)
  if (end === null) return
  const announced = announcements.behind(end, reader.size)
  const images = yield* walkBehind(reader, end, announced.length > 0)
  const few = new ByteReader(reader.source, { block: HOLE })
  for (const each of images === null ? [] : announced) {
    // As many images as are announced answer for them wherever they lie, because an editor may have moved them.
    const isImage = images!.has(each.from) || images!.size >= announced.length
    const part = await announcedPart(few, each, isImage)
    if (part.flaw) yield part
  }
}

/** Walks through what stands behind the first image: padding, images, which must be complete too, films, cameras' data.
 * Returns where the images begin; null: one of them is not complete. `mayHavePadding`: something is announced. */
async function* walkBehind(
  reader: ByteReader,
  end: number,
  mayHavePadding: boolean,
): AsyncGenerator<Part, ReadonlySet<number> | null> {
  const { size } = reader
  const images = new Set<number>()
  for (let at = end; at < size; ) {
    const from = await endOfZeros(reader, at)
    if (from > at) {
      const padding: Part = { role: 'unwritten', name: 'padding', from: at, to: from }
      yield flawed(padding, !mayHavePadding && from - at >= ROOM && 'zeros')
    }
    if (from === size) break
    const start = (await reader.slice(from, from + BEGINNING.length)).toString('latin1')
    if (start === BEGINNING) {
      const next = yield* walkImage(reader, from, `image ${images.size + 2}, `)
      if (next === null) return null
      images.add(from)
      at = next
    } else {
      // A film may have a hole up to the file's end, too.
      const zeros = await reader.zerosAtEnd()
      at = zeros < HOLE ? size : size - zeros
      yield { role: 'stray', name: 'trailer', from, to: at }
    }
  }
  return images
}

/** What stands where metadata announce something. `isImage`: a whole image answers for it. */
async function announcedPart(reader: ByteReader, announced: Announced, isImage: boolean): Promise<Part> {
  const { from, to } = announced
  const { size } = reader
  const part: Part = { ...announced, role: 'image', by: 'index' }
  if (isImage) return flawed(part, to > size && 'length')
  // Where the padding has begun, a writer was on its way to what is absent.
  const [last] = await reader.slice(size - 1, size)
  if (to > size) return flawed(part, from < size ? 'cut' : last === 0 ? 'unwritten' : 'announced')
  // Its room may be reserved and not written, or not up to its end.
  for (const [at, end] of [
    [from, from + ROOM],
    [Math.max(from, to - HOLE), to],
  ] as const) {
    const bytes = await reader.slice(at, Math.min(to, end))
    if (bytes.every(byte => byte === 0)) return flawed(part, 'unwritten', part.name, at)
  }
  return part
}
