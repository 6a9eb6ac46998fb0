import { describe, expect, it } from 'vitest'
import { isRemote, mayChangeUnseen, mountsOf, parseMounts, readMounts } from '../../src/local/mount-table.ts'

const LINES = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
31 22 0:25 / /proc rw,nosuid - proc proc rw
40 22 0:40 / /srv/my\\040photos rw shared:7 master:2 - nfs4 nas:/photos rw,vers=4.2
41 40 0:41 / /srv/my\\040photos/phone rw - fuse.sshfs phone: rw,user_id=0
`
const mounts = parseMounts(LINES)

const at = (path: string, id: string, type = 'ext4') => ({ path, id, type })

describe('the mounts that make up a folder', () => {
  it('are the one that it lies on and those below it', () => {
    expect(mountsOf(mounts, '/srv/my photos')).toEqual([
      at('/srv/my photos', '40 0:40 /', 'nfs4'),
      at('/srv/my photos/phone', '41 0:41 /', 'fuse.sshfs'),
    ])
    expect(mountsOf(mounts, '/srv/my photos/2024')).toEqual([at('/srv/my photos', '40 0:40 /', 'nfs4')])
    expect(mountsOf(mounts, '/srv/my photos too')).toEqual([at('/', '22 254:0 /')])
    expect(mountsOf(mounts, '/srv').map(({ id }) => id)).toEqual(['22 254:0 /', '40 0:40 /', '41 0:41 /'])
  })

  it('are the uppermost where several lie upon one another', () => {
    const stacked = [
      at('/', '1'),
      at('/m', '2'),
      at('/m/a', '3'),
      at('/m', '4'),
      at('/m/b', '5'),
      at('/m/b', '6'),
    ]
    expect(mountsOf(stacked, '/m').map(({ id }) => id)).toEqual(['4', '6'])
  })
})

describe('a file system of other machines', () => {
  it('is known by its type', () => {
    expect(mounts.map(isRemote)).toEqual([false, false, true, true])
    const local = ['btrfs', 'xfs', 'zfs', 'tmpfs', 'overlay', 'vfat', 'exfat', 'fuseblk', 'fuse.mergerfs']
    expect(local.filter(type => isRemote(at('/', '1', type)))).toEqual([])
    expect(['nfs', 'cifs', 'smb3'].every(type => isRemote(at('/', '1', type)))).toBe(true)
  })
})

describe('a file system that may change without an event', () => {
  const unseen = (type: string) => mayChangeUnseen(at('/', '1', type), [])

  it('is any but the usual ones of this machine', () => {
    const local = ['ext4', 'btrfs', 'xfs', 'zfs', 'tmpfs', 'vfat', 'exfat', 'fuseblk', 'overlay']
    expect(local.filter(unseen)).toEqual([])
    const others = ['nfs4', 'cifs', '9p', 'virtiofs', 'fuse', 'fuse.mergerfs', 'fuse.shfs', 'fuse.rclone']
    expect([...others, 'fuse.bindfs', 'fuse.juicefs', 'ecryptfs', 'new-fs'].every(unseen)).toBe(true)
  })

  it('is an overlay with a layer on such a one', () => {
    const text = `${LINES}42 22 0:50 / /near rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/up,workdir=/w
43 22 0:51 / /far rw - overlay none rw,lowerdir=/a:/srv/my\\040photos/b,upperdir=/up
`
    const all = parseMounts(text)
    const found = all.filter(mount => mayChangeUnseen(mount, all) && mount.type === 'overlay')
    expect(found.map(({ path }) => path)).toEqual(['/far'])
  })
})

it.skipIf(process.platform !== 'linux')('the list of this machine has its root', () => {
  expect(mountsOf(readMounts(), '/')[0]?.path).toBe('/')
})
