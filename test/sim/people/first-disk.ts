import type { World } from '../engine/world.ts'
import { pictureOf, placeOf } from './locations.ts'

/** What lies on the disk before the first pass. */
export function makeFirstDisk(world: World): void {
  const { disk, tree, history, mirrors, time } = world
  for (const [at, { mounted, subMount, bind }] of history.mirrors.entries()) {
    const { folder } = mirrors[at]!
    disk.makeFolder(folder)
    if (mounted) disk.mount(folder, disk.newMount())
    if (!subMount) continue
    disk.makeFolder(`${folder}/b`)
    tree.addSubMount(`${folder}/b`, disk.newMount(bind ? disk.find(folder)!.dev : undefined))
  }
  tree.mountSubs()
  for (const [a, b] of history.files) {
    const path = placeOf(world, a)
    disk.makeFolder(path.slice(0, path.lastIndexOf('/')))
    disk.write(path, pictureOf(world, b), b % 2 === 0 ? { mtime: 1_790_000_000_000_000 + (b % 64) } : {})
  }
  // They are older than what happens next.
  time.now += 3_600_000
}
