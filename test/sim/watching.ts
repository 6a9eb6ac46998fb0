import type { MirrorPolicy, Scope } from '../../src/sync/scan/mirror-scans.ts'
import type { VirtualDisk } from './virtual-disk.ts'

/** What watchers have told of since they were last asked: by mirror, the folders below it. */
export function takeStale(disk: VirtualDisk, mirrors: readonly MirrorPolicy[]): Map<string, Scope> {
  const stale = [...disk.stale]
  disk.stale.clear()
  return new Map(
    mirrors.map(({ folder }) => [
      folder,
      stale
        .filter(path => path === folder || path.startsWith(`${folder}/`))
        .map(path => path.slice(folder.length + 1)),
    ]),
  )
}
