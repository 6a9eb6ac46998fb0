import type { Disk } from '../../local/disk.ts'

/**
 * Whether a path below `root` leads to something only because the disk does not mind case: a part of it is listed under
 * another name alone, by the same inode. Reads every folder on its way.
 */
export function isAnotherName(disk: Disk, root: string, path: string): boolean {
  let above = root
  try {
    for (const name of path.split('/')) {
      const names = disk.readFolder(above).map(entry => entry.name)
      const { ino } = disk.lstat(`${above}/${name}`)
      const isIt = (other: string) =>
        folded(other) === folded(name) && disk.lstat(`${above}/${other}`).ino === ino
      if (!names.includes(name) && names.some(isIt)) return true
      above = `${above}/${name}`
    }
  } catch {
    // What can't be told counts as there.
  }
  return false
}

function folded(name: string): string {
  return name.normalize().toLowerCase()
}
