import { readFileSync } from 'node:fs'

/** What is mounted where, as the kernel lists it. */
export interface Mount {
  /** Another one each time that something is mounted. */
  id: string
  path: string
  /** Such as ext4, nfs4, fuse.sshfs. */
  type: string
}

/** Those whose other users change files without a word to this machine. */
const REMOTE = new Set([
  ...['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'afs', 'ceph', 'glusterfs', 'lustre', 'davfs', 'ncpfs'],
  // What a virtual machine is lent by its host.
  ...['9p', 'virtiofs', 'vboxsf', 'prl_fs', 'vmhgfs', 'fuse.vmhgfs-fuse', 'fuse.grpcfuse'],
  ...[
    'fuse.sshfs',
    'fuse.rclone',
    'fuse.glusterfs',
    'fuse.s3fs',
    'fuse.davfs',
    'fuse.curlftpfs',
    'fuse.smbnetfs',
  ],
])

/** Later ones lie upon earlier ones. Empty where the system keeps no such list. */
export function readMounts(): Mount[] {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return []
  }
}

/** A line: id, parent, device, root, path, options, any number of tags, a dash, type, source, options. */
export function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap(line => {
    const [front = '', back = ''] = line.split(' - ')
    const [id = '', , , , path] = front.split(' ')
    return path === undefined ? [] : [{ id, path: unescaped(path), type: back.split(' ')[0] ?? '' }]
  })
}

/** The mounts that make up a folder: the one that it lies on, then those below it, by path. */
export function mountsOf(mounts: readonly Mount[], folder: string): Mount[] {
  const visible = new Map<string, Mount>()
  let ground: Mount | undefined
  for (const mount of mounts) {
    if (isAtOrBelow(folder, mount.path)) {
      if (ground && !isAtOrBelow(mount.path, ground.path)) continue
      ground = mount
      // What was mounted below is hidden with what it was mounted on.
      visible.clear()
    } else if (isAtOrBelow(mount.path, folder)) visible.set(mount.path, mount)
  }
  return [...(ground ? [ground] : []), ...visible.values()]
}

export function isRemote({ type }: Mount): boolean {
  return REMOTE.has(type)
}

function isAtOrBelow(path: string, above: string): boolean {
  return path === above || above === '/' || path.startsWith(`${above}/`)
}

/** Blanks and the like stand as \040. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
