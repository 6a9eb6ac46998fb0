import { bytesOf } from './tiny-picture.ts'
import type { World } from './world.ts'

/** Where files may lie in a mirror, and what they may hold: little enough that everything meets everything. */
export const FOLDERS = ['', '/a', '/b', '/a/c']
export const NAMES = ['x.gif', 'y.gif', 'z.gif', 'p.svg']
const SIZES = [40, 64, 1010, 1040]

/** One of the places where files may lie. */
export function placeOf(world: World, a: number): string {
  const mirror = world.mirrors[(a >>> 8) % world.mirrors.length]!
  return `${mirror.folder}${FOLDERS[a % 4]}/${NAMES[(a >>> 4) % 4]}`
}

/** One of some dozens of pictures: few enough that twins are frequent. */
export function pictureOf(b: number): Buffer {
  const version = b % 37
  const wide = version % 3 === 0
  return bytesOf({
    format: version % 9 === 8 ? 'svg' : 'gif',
    width: wide ? 400 : 300,
    height: wide ? 300 : 200,
    version,
    size: SIZES[version % 4]!,
  })
}
