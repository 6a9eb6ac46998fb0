import { ByteReader } from '../byte-reader.ts'
import type { FlawCode, Part } from '../part.ts'
import { endOfZeros, ROOM } from '../zeros.ts'
import { type Announced, Announcements } from './announced.ts'
import { HOLE, ImageWalk } from './image.ts'

const BEGINNING = '\xff\xd8\xff'

/** The parts of a JPEG (ITU-T T.81, annex B), and of what stands behind its first image. */
export async function* walkJpeg(reader: ByteReader): AsyncGenerator<Part, void> {
  const { size } = reader
  const announcements = new Announcements()
  const end = yield* new ImageWalk(reader, '', announcements).walk(0)
  if (end === null) return
  const announced = announcements.behind(end, size)
  const images = yield* walkBehind(reader, end, announced)
  const few = new ByteReader(reader.source, { block: ROOM })
  for (const each of announced) {
    const code = images && (await flawOf(few, each, isThere(each, images, announced)))
    if (code) yield { ...each, role: 'image', by: 'index', flaw: { code, part: each.name, at: each.from } }
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
      const isAwaited = announced.some(each => each.to > at && !isThere(each, images, announced))
      yield zeros(at, from, isAwaited, size)
    }
    if (await isImage(reader, from)) {
      const next = yield* new ImageWalk(reader, `image ${images.size + 2}, `, null).walk(from)
      if (next === null) return null
      images.add(from)
      at = next
    } else if (from < size) {
      at = await endOfData(reader)
      yield { role: 'stray', name: 'trailer', from, to: at }
    } else at = size
  }
  return images
}

/** Whether a whole image was found where it is announced, or as many as are, because an editor may have moved them. */
function isThere({ from }: Announced, images: ReadonlySet<number>, all: readonly Announced[]): boolean {
  return images.has(from) || images.size >= all.length
}

/** Zeros between and behind images: padding, or room that is not written. `isAwaited`: what is announced is to come there. */
function zeros(from: number, to: number, isAwaited: boolean, size: number): Part {
  const part: Part = { role: 'unwritten', name: 'padding', from, to }
  if (isAwaited ? to < size : to - from < ROOM) return part
  return { ...part, flaw: { code: isAwaited ? 'unwritten' : 'zeros', part: part.name, at: from } }
}

/** What is wrong with bytes that metadata announce. `isImage`: a whole image answers for them. */
async function flawOf(
  reader: ByteReader,
  { from, to }: Announced,
  isImage: boolean,
): Promise<FlawCode | null> {
  const { size } = reader
  if (isImage) return to > size ? 'length' : null
  if (from >= size) return 'announced'
  if (to > size) return 'cut'
  const start = (await reader.bytes(from, Math.min(ROOM, to - from)))?.subarray(0, to - from)
  return start?.every(byte => byte === 0) ? 'unwritten' : null
}

/** Where the zeros begin that the file ends with, when they are many; otherwise the file's size. */
async function endOfData(reader: ByteReader): Promise<number> {
  const length = await reader.zerosAtEnd()
  return reader.size - (length < HOLE ? 0 : length)
}

async function isImage(reader: ByteReader, at: number): Promise<boolean> {
  return (await reader.bytes(at, BEGINNING.length))?.toString('latin1', 0, BEGINNING.length) === BEGINNING
}
