import { isRemote, type Mount, mountsOf } from '../../local/mount-table.ts'

/** What is mounted at, above and below a mirror's folder. */
export interface MirrorMounts {
  /** The folders where something was mounted or unmounted since the last call; '' where the root is another one. */
  changed(): string[]
  /** Folders, '' being the root, at and below which other machines may write. */
  remote(): string[]
}

export function openMirrorMounts(
  mirror: string,
  mounts: () => Mount[],
  say: (line: string) => void,
): MirrorMounts {
  let known = new Map<string, string>()
  let remote: string[] = []
  const said = new Set<string>()

  const folderOf = ({ path }: Mount) => (path.startsWith(`${mirror}/`) ? path.slice(mirror.length + 1) : '')

  function read(): Map<string, string> {
    const mine = mountsOf(mounts(), mirror)
    remote = mine.filter(isRemote).map(folderOf)
    for (const mount of mine.filter(isRemote)) sayOnce(mount)
    return new Map(mine.map(mount => [folderOf(mount), mount.id]))
  }

  function sayOnce(mount: Mount): void {
    const folder = folderOf(mount) === '' ? mirror : mount.path
    const line =
      `${folder} is on a file system of other machines (${mount.type}), which does not tell what they change ` +
      'there: albumd looks at all of it every minute, less often where that takes long. Set watch.poll to choose how often.'
    if (!said.has(line)) say(line)
    said.add(line)
  }

  known = read()
  return {
    changed() {
      const before = known
      known = read()
      const folders = new Set([...before.keys(), ...known.keys()])
      return [...folders].filter(folder => before.get(folder) !== known.get(folder))
    },
    remote: () => remote,
  }
}
