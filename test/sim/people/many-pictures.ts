import { IGNORE_FILE } from '../disk/live-pictures.ts'
import { bytesOf, isHalf } from '../disk/tiny-picture.ts'
import { split } from '../disk/tree.ts'
import type { World } from '../engine/world.ts'
import type { ActionKind } from '../histories/history.ts'
import { MANY } from '../judges/emptied.ts'
import { FOLDERS, make } from './locations.ts'

/** What people, and failing disks, do with very many pictures at once. */
export const MANY_PICTURES: Partial<Record<ActionKind, (world: World, a: number, b: number) => string>> = {
  fillFolder(world, a, b) {
    const mirror = world.mirrors[(a >>> 8) % world.mirrors.length]!
    const folder = `${mirror.folder}${FOLDERS[a % 4]}`
    if (!make(world, `${folder}/00.gif`)) return 'nothing'
    const count = MANY + 1 + (b % 4)
    for (let at = 0; at < count; at++) {
      // Each of a time of its own: none is taken for another that moved.
      const number = (b % 1000) * 32 + at
      const bytes = bytesOf({ format: 'gif', width: 300, height: 200, version: 1000 + number, size: 48 })
      const mtime = 1_650_000_000_000_000 + number * 1_000_000
      world.disk.write(`${folder}/${String(at).padStart(2, '0')}.gif`, bytes, { mtime })
    }
    return `${folder} gets ${count} pictures`
  },
  emptyFolder(world, a, b) {
    const folders = fullFolders(world)
    const folder = folders[a % folders.length]
    if (folder === undefined) return 'nothing'
    const files = filesIn(world, folder)
    const to = movedTo(world, b)
    if (b % 4 === 0 && to !== folder && make(world, `${to}/00.gif`)) {
      for (const name of files) world.disk.rename(`${folder}/${name}`, `${to}/${name}`)
      return `all ${files.length} files of ${folder} are moved to ${to}`
    }
    world.emptied.empty(folder, () => {
      for (const name of files) {
        const path = `${folder}/${name}`
        const file = world.tree.fileAt(path)
        if (file) world.trash.set(path, { ...file })
        world.disk.remove(path)
      }
      if ((b >>> 4) % 4 === 0) world.disk.remove(`${folder}/${IGNORE_FILE}`)
    })
    return `${folder} loses all its ${files.length} files at once`
  },
  removeSome(world, a, b) {
    const files = world.tree.files()
    const all = Math.min(files.length, 1 + (b % 14))
    // Some here and some there, or all in a row.
    const stride = a % 2 === 0 ? 1 : Math.max(1, Math.floor(files.length / all))
    for (let at = 0; at < all; at++) {
      const path = files[(a + at * stride) % files.length]!
      const file = world.tree.fileAt(path)
      if (file) world.trash.set(path, { ...file })
      if (file) world.disk.remove(path)
    }
    return `${all} of ${files.length} files are deleted`
  },
  bringBack(world, a) {
    const byFolder = Map.groupBy(world.trash.keys(), path => split(path).folder)
    const many = [...byFolder.values()].filter(paths => paths.length >= MANY)
    const paths = many[a % many.length] ?? []
    let back = 0
    for (const path of paths) {
      const { bytes, mtime } = world.trash.get(path)!
      if (isHalf(bytes) || world.disk.find(path) || !make(world, path)) continue
      world.disk.write(path, bytes, { mtime })
      back++
    }
    return `${back} files are taken back from the trash`
  },
}

/** Roots too. */
function fullFolders(world: World): string[] {
  const roots = world.mirrors.flatMap(({ folder }) => (world.tree.isOn(folder) ? folder : []))
  return [...roots, ...world.tree.folders()].filter(folder => filesIn(world, folder).length >= MANY)
}

/** The names of all that is no folder. */
function filesIn({ disk }: World, folder: string): string[] {
  const node = disk.find(folder)?.node
  if (node?.kind !== 'folder') return []
  return [...node.children].flatMap(([name, child]) =>
    child.kind === 'folder' || name.startsWith('.') ? [] : name,
  )
}

function movedTo({ mirrors }: World, b: number): string {
  return `${mirrors[(b >>> 8) % mirrors.length]!.folder}${FOLDERS[(b >>> 12) % 4]}`
}
