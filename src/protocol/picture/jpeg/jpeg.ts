import { ByteReader } from '../byte-reader.ts'
import { type FlawCode, flawed, type Part } from '../part.ts'
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
  const images = yield* walkBehind(reader, end, announced)
  const few = new ByteReader(reader.source, { block: ROOM })
  for (const each of announced) {
    const code = images && (await flawOf(few, each, isThere(each, images, announced)))
    if (code) yield flawed({ ...each, role: 'image', by: 'index' }, code)
  }
}

/** Walks through what stands behind the first image: padding, images, which must be complete too, films, cameras' data.
 * Returns where the images begin; null: one of them is not complete. */
async function* walkBehind(
  reader: ByteReader,
  end: number,
  announced: readonly Announced[],
): AsyncGenerator<Part, ReadonlySet<number> | null> {
  const { size } = reader
  const images = new Set<number>()
  for (let at = end; at < size; ) {
    const from = await endOfZeros(reader, at)
    if (from > at) {
      // Zeros are padding, or room that is not written, as where what is announced is to come.
      const awaited = announced.find(each => each.to > at && !isThere(each, images, announced))
      const code = awaited ? from === size && 'unwritten' : from - at >= ROOM && 'zeros'
      const shows = Math.max(at, Math.min(awaited?.from ?? at, from - 1))
      yield flawed({ role: 'unwritten', name: 'padding', from: at, to: from }, code, awaited?.name, shows)
    }
    if (from === size) return images
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

/** Whether a whole image was found where it is announced, or as many as are, because an editor may have moved them. */
function isThere({ from }: Announced, images: ReadonlySet<number>, all: readonly Announced[]): boolean {
  return images.has(from) || images.size >= all.length
}

/** What is wrong with bytes that metadata announce. `isImage`: a whole image answers for them. */
async function flawOf(
  reader: ByteReader,
  { from, to }: Announced,
  isImage: boolean,
): Promise<FlawCode | false> {
  if (isImage) return to > reader.size && 'length'
  if (from >= reader.size) return 'announced'
  if (to > reader.size) return 'cut'
  const start = await reader.slice(from, Math.min(to, from + ROOM))
  return start.every(byte => byte === 0) && 'unwritten'
}
