import { bytesOf, isHalf, noted, readTiny } from '../disk/tiny-picture.ts'
import { split } from '../disk/tree.ts'
import type { World } from '../engine/world.ts'
import { isAltering, isBroad, isStripping, READ } from '../histories/seeds.ts'

/** Where files may lie in a mirror, and what they may hold: little enough that everything meets everything. */
export const FOLDERS = ['', '/a', '/b', '/a/c']
export const NAMES = ['x.gif', 'y.gif', 'z.gif', 'p.svg']
/** Longer than the name of an album may be. */
const LONG = `/${'long'.repeat(30)}`
const SIZES = [40, 64, 1010, 1040]

/** One of the places where files may lie. */
export function placeOf(world: World, a: number): string {
  const mirror = world.mirrors[(a >>> 8) % world.mirrors.length]!
  const folder = isBroad(world.history.seed) && (a >>> 12) % 16 === 1 ? LONG : FOLDERS[a % 4]
  return `${mirror.folder}${folder}/${NAMES[(a >>> 4) % 4]}`
}

/** One of some dozens of pictures: few enough that twins are frequent. */
export function pictureOf(world: World, b: number): Buffer {
  const bytes = plainPicture(world, b)
  return isStripping(world.history.seed) ? noted(bytes, (b >>> 20) % 3) : bytes
}

function plainPicture({ history }: World, b: number): Buffer {
  const version = b % 37
  if (isAltering(history.seed)) return alterable(version)
  const jpeg = history.seed >= READ && version % 9 === 4
  const wide = version % 3 === 0
  return bytesOf({
    format: jpeg ? 'jpg' : version % 9 === 8 ? 'svg' : 'gif',
    width: wide ? 400 : 300,
    height: wide ? 300 : 200,
    version,
    size: SIZES[version % 4]!,
  })
}

/** More formats, large ones and small ones of each, and some without metadata. */
function alterable(version: number): Buffer {
  const format = (['jpg', 'jpe', 'jpe', 'gif', 'jpg', 'jpe', 'gif', 'gif', 'svg'] as const)[version % 9]!
  const isBare = version % 5 === 0 && format !== 'jpg'
  const [width, height] = version % 2 === 0 ? [400, 300] : [300, 200]
  return bytesOf({ format, width, height, version, size: isBare ? 0 : SIZES[version % 4]! })
}

/** Makes the folder for a path. False where none can be: its root is away, or something else is in the way. */
export function make(world: World, path: string): boolean {
  const { folder } = split(path)
  if (!world.tree.isOn(path)) return false
  for (let at = folder; at !== ''; at = split(at).folder) {
    const node = world.disk.find(at)?.node
    if (node && (node.kind !== 'folder' || !node.readable)) return false
  }
  const there = world.disk.find(path)?.node
  if (there?.kind === 'folder') return false
  world.disk.makeFolder(folder)
  return true
}

export function onFile(world: World, a: number, act: (path: string) => string): string {
  const files = world.tree.files().filter(path => isWhole(world.tree.fileAt(path)!.bytes))
  const path = files[a % files.length]
  return path === undefined ? 'nothing' : act(path)
}

/** Nobody copies or moves what is being written. */
function isWhole(bytes: Buffer): boolean {
  return readTiny(bytes) !== null && !isHalf(bytes)
}
