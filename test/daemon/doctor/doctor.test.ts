import { describe, expect, it } from 'vitest'
import { checkMounts } from '../../../src/daemon/doctor/folders.ts'
import { checkClock } from '../../../src/daemon/doctor/host.ts'
import { checkWatches } from '../../../src/daemon/doctor/watches.ts'

describe('the clock', () => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  const against = (date: string | undefined) =>
    checkClock({ kind: 'answer', left: 'all', status: 200, headers: { date }, body: Buffer.alloc(0) }, now)

  it.each([
    ['Sun, 22 Nov 2026 12:00:30 GMT', 'pass', '30 s behind'],
    ['Sun, 22 Nov 2026 11:58:00 GMT', 'warn', '120 s ahead of'],
    ['Sun, 22 Nov 2026 13:00:00 GMT', 'fail', '3600 s behind'],
    ['yesterday', 'pass', 'does not say'],
    [undefined, 'pass', 'does not say'],
  ])('against %s: %s', (date, status, words) => {
    expect(against(date)).toMatchObject({ status, message: expect.stringContaining(words) })
  })
})

describe('the watches', () => {
  const config = { watch: { poll: undefined } } as unknown as Parameters<typeof checkWatches>[0]
  const watching = { folders: 5, lost: 3, polled: false, reason: 'Why.', remedy: 'Do.', overflowed_at: null }

  it('are enough while some are left to others', () => {
    expect(checkWatches(config, 8000, null, 10_000)).toMatchObject([{ status: 'pass' }])
    expect(checkWatches(config, 8001, null, 10_000)).toMatchObject([
      { status: 'warn', remedy: expect.stringContaining('sysctl fs.inotify.max_user_watches=') },
    ])
  })

  it('are what the daemon says of them', () => {
    expect(checkWatches(config, 5, { ...watching, lost: 0 }, 10_000)).toMatchObject([{ status: 'pass' }])
    expect(checkWatches(config, 5, watching, 10_000)).toMatchObject([{ status: 'warn', remedy: 'Do.' }])
  })
})

describe('the mounts', () => {
  const mirrors = [{ folder: '/srv/photos' }] as Parameters<typeof checkMounts>[0]['mirrors']
  const config = { mirrors, state_dir: '/var/lib/albumd' }
  const root = { id: '1', path: '/', type: 'ext4' }
  const fstab =
    '# a comment\nUUID=1 / ext4 defaults 0 1\nUUID=2 /srv ext4 defaults 0 2\nUUID=3 none swap sw 0 0\n'

  it('are all there', () => {
    const mounts = [root, { id: '2', path: '/srv', type: 'ext4' }]
    expect(checkMounts(config, mounts, fstab)).toMatchObject([{ status: 'pass' }])
    expect(checkMounts(config, [root], '')).toMatchObject([{ status: 'pass' }])
  })

  it('fail where one of /etc/fstab at, above or below a mirror is away', () => {
    expect(checkMounts(config, [root], fstab)).toMatchObject([
      { status: 'fail', message: '/srv/photos: /srv is in /etc/fstab and not mounted', remedy: 'mount /srv' },
    ])
    expect(checkMounts(config, [root], 'x /srv/photos/My\\040card vfat\n')).toMatchObject([
      { status: 'fail', remedy: "mount '/srv/photos/My card'" },
    ])
    expect(checkMounts(config, [root], 'x /srv/photos2 vfat\n')).toMatchObject([{ status: 'pass' }])
  })

  it('warn of pictures on other machines, and fail for a state there', () => {
    const nfs = (path: string) => ({ id: '2', path, type: 'nfs4' })
    expect(checkMounts(config, [root, nfs('/srv')], '')).toMatchObject([{ status: 'warn' }])
    expect(checkMounts(config, [root, nfs('/var')], '')).toMatchObject([
      { status: 'fail', remedy: expect.stringContaining('state_dir') },
    ])
  })
})
