import type { Disk } from './disk.ts'

/** Mounts come and go seldom, and their list is long on machines with containers. In microseconds. */
const REMEMBERED_FOR = 1_000_000

/** A disk that remembers for a second what is remote: it is asked about each picture that was just written. */
export function rememberRemotes(disk: Disk): Disk {
  const known = new Map<string, boolean>()
  let since = Number.NEGATIVE_INFINITY
  return {
    ...disk,
    isRemote(folder) {
      // The clock may be set back.
      if (Math.abs(disk.now() - since) > REMEMBERED_FOR) {
        known.clear()
        since = disk.now()
      }
      const isRemote = known.get(folder) ?? disk.isRemote(folder)
      known.set(folder, isRemote)
      return isRemote
    },
  }
}
