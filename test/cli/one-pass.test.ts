import { describe, expect, it } from 'vitest'
import { ALL_IN_SYNC, inJson, stoppedInWords, Tally } from '../../src/cli/one-pass.ts'
import type { SpokenEvent } from '../../src/sync/pass-events.ts'
import { because, type Reason, said } from '../../src/words/reasons.ts'
import { mirrorInSync } from '../daemon/report/mirror-status.ts'

const IDLE = mirrorInSync(3)

const waits = (path: string): SpokenEvent => ({ event: 'picture_waits', mirror: '/p', path, message: 'x' })

it('of a key of another account a person is told to restore the old one, and not to check the file', () => {
  const of = (code: string, message: Reason) =>
    stoppedInWords(
      { code, endpoint: 'list', message, remedy: 'key' },
      { key: 'check host.api_key_file', plan: '' },
    )
  expect(of('INVALID_API_KEY', said('no such key'))).toBe(
    'no such key (INVALID_API_KEY); check host.api_key_file',
  )
  expect(of('OTHER_ACCOUNT', because('other_account'))).toBe(
    'This key belongs to a different account. Restore the old key, or name a new state_dir (OTHER_ACCOUNT)',
  )
})

describe('the summary of a pass', () => {
  it('counts a picture that waits once, however often it is looked at', () => {
    const tally = new Tally()
    for (const path of ['a.png', 'a.png', 'b.png', 'a.png']) tally.add(waits(path))
    tally.add({ event: 'picture_uploaded', mirror: '/p', path: 'b.png', size: 1, cdn_url: 'x' })
    expect(tally.counts).toMatchObject({ uploaded: 1 })
    expect(tally.inWords([{ ...IDLE, pending_uploads: 2001 }], [])).toContain(
      'left: 2,000 to upload, 1 waiting',
    )
    const inWords = (pending_uploads: number, quiet: boolean) =>
      tally.inWords([{ ...IDLE, pending_uploads }], [], { quiet })
    expect(inWords(1, true)).toContain('left: 1 waiting (a.png: x). "albumd status" tells more')
    // A line has just said what it waits for.
    expect(inWords(1, false)).toContain('left: 1 waiting. "albumd status" tells more')
    tally.add(waits('b.png'))
    expect(inWords(2, true)).toContain('2 waiting (a.png and 1 more: x)')
    tally.add({ event: 'picture_uploaded', mirror: '/p', path: 'b.png', size: 1, cdn_url: 'x' })
    tally.add({ ...waits('c.png'), message: 'y' } as SpokenEvent)
    expect(inWords(3, true)).toContain('left: 1 to upload, 2 waiting. "albumd status" tells more')
  })

  it('has as waiting, for programs, all that it calls left to upload', () => {
    const left = [
      { ...IDLE, pending_uploads: 2 },
      { ...IDLE, pending_uploads: 1 },
    ]
    const tally = new Tally()
    tally.add(waits('a.png'))
    expect(tally.inWords(left, [])).toContain('left: 2 to upload, 1 waiting')
    const result = { left, stopped: [], mirrors: [], paused: null, uploads_go_on: null }
    const notReady = [{ path: '/p/empty.png', reason: 'y' }]
    const told = inJson(3, tally, { ...result, verdict: 'left' }, { notReady, isInterrupted: true })
    expect(told).toMatchObject({ exit_code: 3, waiting: 3, interrupted: true })
    // A file that is empty is not recorded, so no number tells of it.
    expect(told).toMatchObject({
      not_ready: [
        { path: '/p/empty.png', code: 'NOT_READY', reason: 'y' },
        { path: '/p/a.png', code: 'NOT_READY', reason: 'x' },
      ],
    })
    // Failures of earlier passes and guarded mirrors are left too.
    const all = [{ ...IDLE, state: 'guarded', pending_uploads: 2, failed: 1, uncertain: 1 } as const]
    expect(new Tally().inWords(all, [])).toContain(
      'left: 2 to upload, 1 failed, 1 uncertain, 1 mirror guarded',
    )
    expect(inJson(3, new Tally(), { ...result, left: all, verdict: 'left' })).toMatchObject({
      failed: 0,
      left: {
        pending_uploads: 2,
        failed: 1,
        uncertain: 1,
        pending_deletions: 0,
        held_deletions: 0,
        guarded: 1,
      },
    })
  })

  it('does not promise that a daemon deletes what waits, which may not run', () => {
    expect(new Tally().inWords([{ ...IDLE, pending_deletions: 1 }], [])).toBe(
      'nothing done; left: 1 to delete ("albumd deletions list" says what each waits for). "albumd status" tells more',
    )
    expect(new Tally().inWords([{ ...IDLE, pending_deletions: 1 }], [], { leavesDeletions: true })).toContain(
      'left: 1 to delete (left to "albumd sync" or "albumd run"; "albumd deletions list" says what each waits for)',
    )
  })

  it('counts those that were found by their bytes, and not those that were only looked at again', () => {
    const tally = new Tally()
    tally.add({ event: 'picture_uploaded', mirror: '/p', path: 'a.png', size: 1, cdn_url: 'x' })
    const unchanged = (path: string) => ({ event: 'picture_unchanged', mirror: '/p', path, size: 1 }) as const
    for (const path of ['b.png', 'c.png']) tally.add({ ...unchanged(path), compared: true })
    tally.add(unchanged('e.png'))
    tally.add({ event: 'picture_linked', mirror: '/p', path: 'd.png' })
    expect(tally.inWords([IDLE], [])).toBe(
      '1 picture uploaded, 2 pictures found on the host by the bytes, 1 picture linked',
    )
  })

  it('does not say that nothing was done where a picture needed no upload, and another is left', () => {
    const tally = new Tally()
    tally.add({ event: 'picture_unchanged', mirror: '/p', path: 'a.png', size: 1 })
    expect(tally.inWords([{ ...IDLE, pending_uploads: 1 }], [])).toMatch(
      /^1 picture found unchanged; left: 1 /,
    )
  })

  it('tells images of deleted pictures from those that newer ones replaced', () => {
    const tally = new Tally()
    for (const reason of ['deleted', 'superseded', 'superseded'] as const)
      tally.add({ event: 'image_deleted', mirror: '/p', path: 'a.png', reason, moved_to: null })
    expect(tally.inWords([IDLE], [])).toBe('3 images deleted (2 replaced by newer ones)')
    expect(tally.counts.deleted).toBe(3)
  })

  it('of an interrupted pass says so, and calls no mirror guarded because its scan was ended', () => {
    const ended = { ...IDLE, state: 'guarded' } as const
    const interrupted = { isInterrupted: true }
    expect(new Tally().inWords([ended], [], interrupted)).toBe(
      'interrupted; nothing done. "albumd sync" goes on',
    )
    const inDoubt = { ...ended, needs_person: true, pending_uploads: 2 }
    expect(new Tally().inWords([ended, inDoubt], [], interrupted)).toBe(
      'interrupted; nothing done; left: 2 to upload, 1 mirror guarded. "albumd sync" goes on',
    )
    expect(new Tally().inWords([ended], [])).toContain('1 mirror guarded')
    const tally = new Tally()
    tally.add({ event: 'album_created', album: 'Photos' })
    expect(tally.inWords([ended], [], interrupted)).toBe('interrupted; 1 album made. "albumd sync" goes on')
  })

  it('does not say that all is in sync where links could not be compared', () => {
    expect(new Tally().inWords([IDLE], [])).toBe(ALL_IN_SYNC)
    expect(new Tally().inWords([IDLE], [], { isNamed: true })).toBe(
      'nothing to do: what was named is in sync',
    )
    expect(new Tally().inWords([IDLE], [], { notCompared: 10 })).toContain('left: 10 linked and not compared')
  })
})
