import { ByteReader } from './byte-reader.ts'
import { type Announced, Announcements } from './jpeg-announced.ts'
import { HOLE, ImageWalk, ROOM } from './jpeg-image.ts'
import type { FlawCode, Part } from './part.ts'

const BEGINNING = '\xff\xd8\xff'

/** The parts of a JPEG (ITU-T T.81, annex B), and of what stands behind its first image. */
export async function* walkJpeg(reader: ByteReader): AsyncGenerator<Part, void> {
  const announcements = new Announcements()
  const end = yield* new ImageWalk(reader, '', announcements).walk(0)
  if (end === null) return
  const announced = announcements.behind(end, reader.size)
  const behind = yield* walkBehind(reader, end, announced)
  const few = new ByteReader(reader.source, { block: ROOM })
  for (const each of announced) {
    const code = await flawOf(few, each, behind, announced.length)
    if (code) yield { ...each, role: 'image', by: 'index', flaw: { code, part: each.name, at: each.from } }
  }
  // Whoever says that something follows, and not how much, may still append it.
  const { size } = reader
  if (announcements.isVague) yield { role: 'index', name: 'announcement', from: size, to: size }
}

/** What was found behind the first image. */
interface Behind {
  /** Whole images, and where those of them begin that metadata name. */
  images: number
  named: Set<number>
  /** Behind them there are only zeros, up to the file's end. */
  isPadded: boolean
  /** The file has only zeros from here on. */
  solid: number
}

/** Walks through what stands behind the first image: padding, images, which must be complete too, films, cameras' data. */
async function* walkBehind(
  reader: ByteReader,
  end: number,
  announced: readonly Announced[],
): AsyncGenerator<Part, Behind> {
  const { size } = reader
  const starts = new Set(announced.map(({ from }) => from))
  const behind: Behind = { images: 0, named: new Set(), isPadded: false, solid: size }
  for (let at = end; at < size; ) {
    const from = yield* walkPadding(reader, at, announced, starts)
    if (from === size) return { ...behind, isPadded: true, solid: at }
    if (await isImage(reader, from)) {
      const next = yield* new ImageWalk(reader, `image ${behind.images + 2}, `, null).walk(from)
      if (next === null) return behind
      behind.images++
      if (starts.has(from)) behind.named.add(from)
      at = next
    } else {
      at = await nextImage(reader, announced, from)
      if (at === size) behind.solid = await roomAtEnd(reader)
      yield { role: 'stray', name: 'trailer', from, to: Math.min(at, behind.solid) }
    }
  }
  if (behind.solid < size) yield zeros(behind.solid, size, false)
  return behind
}

/** Walks over zeros, and returns the offset of what follows. A film that metadata name begins with zeros itself. */
async function* walkPadding(
  reader: ByteReader,
  at: number,
  announced: readonly Announced[],
  starts: ReadonlySet<number>,
): AsyncGenerator<Part, number> {
  const first = await skipZeros(reader, at)
  let from = first
  while (!starts.has(from) && from > at && from > first - ROOM) from--
  if (first === reader.size || !starts.has(from)) from = first
  const isNamed = first === reader.size ? announced.some(({ to }) => to > at) : starts.has(from)
  if (from > at) yield zeros(at, from, isNamed)
  return from
}

/** What is wrong with bytes that metadata name. `all`: so many stretches of bytes are named. */
async function flawOf(
  reader: ByteReader,
  { from, to }: Announced,
  { images, named, isPadded, solid }: Behind,
  all: number,
): Promise<FlawCode | null> {
  const { size } = reader
  // An editor may have moved the images, which are all there.
  if (named.has(from) || images >= all) return to > size ? 'length' : null
  if (from >= size) return isPadded ? 'cut' : 'announced'
  if (to > size) return 'cut'
  if (to > solid && size - solid >= HOLE) return 'unwritten'
  const start = (await reader.bytes(from, Math.min(ROOM, to - from)))?.subarray(0, to - from)
  return start?.every(byte => byte === 0) ? 'unwritten' : null
}

/** Zeros between and behind images: padding, or room that is not written. A few are no flaw. */
function zeros(from: number, to: number, isNamed: boolean): Part {
  const part: Part = { role: isNamed ? 'stray' : 'unwritten', name: 'padding', from, to }
  return isNamed || to - from < ROOM ? part : { ...part, flaw: { code: 'zeros', part: part.name, at: from } }
}

/** The offset of the zeros that the file ends with, where they are so many that they may be room; otherwise its size. */
async function roomAtEnd(reader: ByteReader): Promise<number> {
  const room = await reader.zerosAtEnd()
  return reader.size - (room < ROOM ? 0 : room)
}

/** The offset of the next byte that is no zero. */
async function skipZeros(reader: ByteReader, from: number): Promise<number> {
  for (let at = from; ; ) {
    const bytes = await reader.bytes(at, 1)
    if (bytes === null) return reader.size
    const first = bytes.findIndex(byte => byte !== 0)
    if (first >= 0) return at + first
    at += bytes.byteLength
  }
}

async function isImage(reader: ByteReader, at: number): Promise<boolean> {
  const bytes = await reader.bytes(at, BEGINNING.length)
  return bytes?.toString('latin1', 0, BEGINNING.length) === BEGINNING
}

/** Where the next image begins that metadata name, behind bytes that are none; the source's end when none does. */
async function nextImage(
  reader: ByteReader,
  announced: readonly Announced[],
  behind: number,
): Promise<number> {
  const few = new ByteReader(reader.source, { block: ROOM })
  for (const { from } of announced) if (from > behind && (await isImage(few, from))) return from
  return reader.size
}
