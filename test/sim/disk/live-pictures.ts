import { formatOfName } from '../../../src/protocol/formats.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { type FileNode, isOdd, split, upwards } from './tree.ts'
import type { VirtualDisk } from './virtual-disk.ts'

export const IGNORE_FILE = '.albumdignore'

export interface LivePicture {
  path: string
  mirror: MirrorPolicy
  node: FileNode
}

/** The pictures that lie in the mirrors and can be read, ignored ones included. */
export function* livePictures(disk: VirtualDisk, mirrors: readonly MirrorPolicy[]): Generator<LivePicture> {
  for (const mirror of mirrors)
    for (const [path, node] of disk.below(mirror.folder))
      if (node.kind === 'file' && isPicture(path, node) && isReadable(disk, path))
        yield { path, mirror, node }
}

function isPicture(path: string, { bytes, readable }: FileNode): boolean {
  const { name } = split(path)
  return readable && bytes.length > 0 && !name.startsWith('.') && !isOdd(name) && formatOfName(name) !== null
}

function isReadable(disk: VirtualDisk, path: string): boolean {
  for (const above of upwards(path)) if (disk.find(above)?.node.readable === false) return false
  return true
}

/** Ignore files of the simulation hold plain names, one a line, and nothing else. */
export function isIgnored(disk: VirtualDisk, mirrors: readonly MirrorPolicy[], path: string): boolean {
  const mirror = mirrors.find(({ folder }) => path.startsWith(`${folder}/`))
  if (!mirror) return false
  for (const at of upwards(path)) {
    if (at.length <= mirror.folder.length) break
    const { name } = split(at)
    if (mirror.ignore.includes(name)) return true
    for (let { folder } = split(at); folder.length >= mirror.folder.length; folder = split(folder).folder)
      if (rulesOf(disk, folder).includes(name)) return true
  }
  return false
}

function rulesOf(disk: VirtualDisk, folder: string): string[] {
  const node = disk.find(`${folder}/${IGNORE_FILE}`)?.node
  return node?.kind === 'file' && node.readable ? node.bytes.toString().split('\n') : []
}
