import { expect, it } from 'vitest'
import { statusLine } from '../../../src/daemon/notify/service-manager.ts'
import type { MirrorStatus } from '../../../src/daemon/report/mirror-status.ts'
import type { Status } from '../../../src/daemon/report/status.ts'
import { mirrorInSync } from '../report/mirror-status.ts'

const MIRROR = mirrorInSync(1200)

const lineOf = (mirrors: Partial<MirrorStatus>[], exhausted = false, blocks: Status['blocks'] = []) =>
  statusLine({
    mirrors: mirrors.map(mirror => ({ ...MIRROR, ...mirror })),
    quota: { exhausted } as Status['quota'],
    blocks,
  })

it('the status line counts over all mirrors, and says what is left to do', () => {
  expect(lineOf([{}, { files: 3, synced: 1, state: 'syncing', pending_uploads: 1, failed: 1 }])).toBe(
    '1,201 of 1,203 pictures on the host; 1 to upload; 1 failed; syncing',
  )
  expect(lineOf([{ held_deletions: 21 }], true)).toBe(
    'the quota of the day is used up; 1,200 of 1,200 pictures on the host; 21 held',
  )
  expect(lineOf([{ synced: 0, linked: 1200 }])).toBe(
    '1,200 of 1,200 pictures on the host; 1,200 of them linked, bytes not compared yet',
  )
})

it('the status line begins with what needs a person', () => {
  expect(lineOf([{}, { state: 'guarded', reason: '/p is not there' }])).toMatch(
    /^guarded: \/p is not there; /,
  )
  expect(lineOf([{ state: 'paused', reason: 'paused: nothing is sent' }])).toMatch(
    /^paused: nothing is sent; /,
  )
  const block = {
    endpoint: 'upload',
    code: 'INVALID_API_KEY',
    message: '',
    since: '',
    said_at: '',
    next_try_at: null,
    needs_person: true,
  }
  expect(lineOf([{ state: 'blocked' }], false, [block])).toMatch(
    /^the host refuses the key \(INVALID_API_KEY\); /,
  )
  const passing = { ...block, code: 'HOST_UNREACHABLE', needs_person: false }
  expect(lineOf([{ state: 'blocked' }], false, [passing])).toMatch(/^the host is away \(HOST_UNREACHABLE\); /)
  expect(lineOf([{}], false, [block])).toMatch(/^1,200 of/)
})
