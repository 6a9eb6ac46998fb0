import { readFileSync } from 'node:fs'

export interface Mount {
  /** The kernel's number, the device, and its folder. A later mount may have the number of an earlier one. */
  id: string
  path: string
  /** The type of the file system, such as ext4, nfs4, fuse.sshfs. */
  type: string
  /** The folders that an overlay lies over. */
  layers?: readonly string[]
}

/** Types of file systems in which other machines can change files, and no event tells this machine of the change. */
const REMOTE = new Set([
  ...'nfs nfs4 cifs smb3 smbfs afs ceph glusterfs lustre davfs ncpfs'.split(' '),
  // Types for folders that a virtual machine shares with its host.
  ...'9p virtiofs vboxsf prl_fs vmhgfs fuse.vmhgfs-fuse fuse.grpcfuse'.split(' '),
  ...'sshfs rclone glusterfs s3fs davfs curlftpfs smbnetfs'.split(' ').map(name => `fuse.${name}`),
])

/** Types of file systems that report all changes, because only this machine changes them, through this mount. */
const TELLING = new Set([
  ...'ext2 ext3 ext4 xfs btrfs zfs f2fs bcachefs jfs nilfs2 reiserfs tmpfs ramfs rootfs squashfs erofs'.split(
    ' ',
  ),
  // fuseblk: a driver that has a disk for itself. autofs: nothing is mounted there yet.
  ...'vfat exfat msdos ntfs ntfs3 fuseblk hfs hfsplus apfs iso9660 udf autofs'.split(' '),
])

let latestText = ''
let latest: readonly Mount[] = []

/** The mounts of this machine, the earliest first. A later one may cover an earlier one. The same array while nothing changes. */
export function readMounts(): readonly Mount[] {
  let text = ''
  try {
    text = readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {}
  if (text !== latestText) {
    latestText = text
    latest = parseMounts(text)
  }
  return latest
}

/** Reads /proc/self/mountinfo. A line: id, parent, device, root, path, options, tags, a dash, type, source, options. */
export function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap(line => {
    const [front = '', back = ''] = line.split(' - ')
    const [number, , device, root, path] = front.split(' ')
    if (path === undefined) return []
    const [type = ''] = back.split(' ')
    const layers = [...unescaped(back).matchAll(/[, ](?:lower|upper)dir=([^,]*)/g)].flatMap(([, dirs]) =>
      dirs!.split(':'),
    )
    const over = type === 'overlay' ? { layers } : {}
    return [{ id: `${number} ${device} ${root}`, path: unescaped(path), type, ...over }]
  })
}

/** The mount on which a folder lies, and then those below the folder, without those that a later mount covers. */
export function mountsOf(mounts: readonly Mount[], folder: string): Mount[] {
  const visible = new Map<string, Mount>()
  let carrier: Mount | undefined
  for (const mount of mounts) {
    if (isAtOrBelow(folder, mount.path)) {
      if (carrier && !isAtOrBelow(mount.path, carrier.path)) continue
      carrier = mount
      // This mount covers what was mounted earlier below the folder.
      visible.clear()
    } else if (isAtOrBelow(mount.path, folder)) visible.set(mount.path, mount)
  }
  return [...(carrier ? [carrier] : []), ...visible.values()]
}

/** Whether files may change without an event: on another machine, or beneath FUSE or an overlay. */
export function mayChangeUnseen(mount: Mount, all: readonly Mount[]): boolean {
  if (mount.type !== 'overlay') return !TELLING.has(mount.type)
  // In a container, the layers lie where the container can't look, so they have no mount here.
  const carriers = (mount.layers ?? []).flatMap(layer => mountsOf(all, layer).slice(0, 1))
  return carriers.some(({ type }) => type !== 'overlay' && !TELLING.has(type))
}

export function isRemote({ type }: Mount): boolean {
  return REMOTE.has(type)
}

function isAtOrBelow(path: string, above: string): boolean {
  return path === above || above === '/' || path.startsWith(`${above}/`)
}

/** The path behind an escaped one: the kernel's list and fstab write some characters in octal, such as a blank as \040. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
