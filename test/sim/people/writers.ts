import { halfOf, mixedOf, nameOfBytes, roomFor, tellsItsEnd } from '../disk/tiny-picture.ts'
import type { FileNode } from '../disk/tree.ts'
import type { World } from '../engine/world.ts'
import type { ActionKind } from '../histories/history.ts'
import { Random } from '../histories/random.ts'
import { make, onFile, pictureOf, placeOf } from './locations.ts'

/** Less than pictures rest where their bytes tell nothing. */
const MOST_GAP_MS = 900
/** More than pictures rest. */
const REST_MS = 2000
/** Less than a picture may lack its end before it is taken for one that stays so. */
const MOST_CUT_MS = 400_000
/** Less than room may be left blank. */
const MOST_BLANK_MS = 50_000

/** Who writes a picture bit by bit. What is there meanwhile must never be sent. */
export const WRITERS: Partial<Record<ActionKind, (world: World, a: number, b: number) => string>> = {
  writeInPieces(world, a, b) {
    const path = placeOf(world, a)
    const whole = pictureOf(world, b)
    const random = new Random(b, 1)
    if (!make(world, path)) return 'nothing'
    const pieces = Array.from({ length: 1 + random.below(4) }, (_, at) =>
      halfOf(whole, (whole.length * (at + 1)) >> 3, at),
    )
    const tells = world.history.setting.endings && tellsItsEnd(whole)
    // Who goes away leaves half a picture for good.
    const isLeft = tells && random.chance(0.15)
    const inPlace = random.chance(0.3)
    write(world, path, { pieces, whole: isLeft ? null : whole, inPlace }, () =>
      gap(random, tells ? MOST_CUT_MS : MOST_GAP_MS),
    )
    return `${path} is written in ${pieces.length + 1} pieces${isLeft ? ', but for the last' : ''}: ${nameOfBytes(whole)}`
  },
  writeOver: (world, a, b) =>
    onFile(world, a, path => {
      // What somebody wrote a moment ago is his.
      if (world.time.now - world.tree.fileAt(path)!.stampedAt < REST_MS) return 'nothing'
      const whole = pictureOf(world, b)
      const random = new Random(b, 1)
      const pieces = Array.from({ length: 1 + random.below(3) }, (_, at) => mixedOf(whole, at))
      write(world, path, { pieces, whole, inPlace: true }, () => gap(random, MOST_GAP_MS))
      return `${path} is written over bit by bit with ${nameOfBytes(whole)}`
    }),
  reserveRoom(world, a, b) {
    const path = placeOf(world, a)
    const whole = pictureOf(world, b)
    const random = new Random(b, 1)
    if (!make(world, path)) return 'nothing'
    const tells = world.history.setting.endings && tellsItsEnd(whole)
    write(world, path, { pieces: [roomFor(whole)], whole, inPlace: random.chance(0.3) }, () =>
      gap(random, tells ? MOST_BLANK_MS : MOST_GAP_MS),
    )
    return `${path} gets room for ${nameOfBytes(whole)}`
  },
}

interface Writing {
  pieces: readonly Buffer[]
  /** Null: it never comes to that. */
  whole: Buffer | null
  /** Into the file that is there. */
  inPlace: boolean
}

function write(
  { disk, oracle, time }: World,
  path: string,
  { pieces, whole, inPlace }: Writing,
  gapMs: () => number,
): void {
  let file: FileNode | null = null
  let at = 0
  for (const piece of [...pieces, ...(whole ? [whole] : [])]) {
    const put = () => {
      if (file) disk.writeInto(file, piece)
      else file = disk.write(path, piece, { inPlace })
      if (piece !== whole) oracle.halves.add(file.hash)
    }
    if (at === 0) put()
    else time.after(at, put)
    at += gapMs()
  }
}

/** Short ones as often as long ones. */
function gap(random: Random, most: number): number {
  return 1 + Math.floor(most ** ((random.below(1000) + 1) / 1001))
}
