import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventInWords } from '../../../src/cli/terminal/progress.ts'
import { listPending } from '../../../src/daemon/commands/deletions.ts'
import type { Explanation } from '../../../src/daemon/report/explain.ts'
import { statusOf } from '../../../src/daemon/report/status.ts'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { openPicture } from '../../../src/local/picture-file.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { held } from '../../../src/records/escrow.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { spoken } from '../../../src/sync/pass-events.ts'
import { lockState } from '../../../src/synced/lock.ts'
import { said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { failure } from '../../sync/workshop.ts'
import { tempFolder } from '../../temp-folder.ts'
import { asked, blockedBy, events } from './asked.ts'

const codes = ({ next }: Explanation) => next.map(({ code }) => code)
const steps = ({ next }: Explanation) => next.map(({ what }) => what).join('\n')

describe('why, of a picture', () => {
  it('gives the commands for a held image', async () => {
    const at = await asked()
    const hold = { hold_above: 0.25, hold_min: 1 }
    for (const n of [0, 1, 2, 3]) at.write(`it's/${n}.png`, png(2 + n, 2).bytes)
    await at.pass({ hold })
    for (const n of [0, 1, 2]) rmSync(join(at.pictures, `it's/${n}.png`))
    await at.pass({ hold })
    const held = at.why("it's/0.png")
    expect(held).toMatchObject({ state: 'gone', deletions: [{ state: 'held', reason: 'deleted' }] })
    expect(events(held)).toEqual(['uploaded', 'gone', 'held'])
    const path = `'${join(at.pictures, "it'\\''s/0.png")}'`
    expect(held.next.map(({ command }) => command)).toEqual([
      null,
      expect.stringContaining('albumd restore '),
      `albumd deletions approve ${path}`,
      `albumd deletions discard ${path}`,
    ])
    await at.decide('approve', "it's/0.png")
    await at.pass({ hold })
    expect(events(at.why("it's/0.png"))).toEqual(['uploaded', 'gone', 'held', 'approved', 'deleted'])
    expect(at.why("it's/0.png").state).toBe('absent')
  })

  it('tells how much of the grace is left, and what stops the deletion', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass({ graceMs: 600_000 })
    rmSync(join(at.pictures, 'p.png'))
    at.write('other.png', png(9, 3).bytes)
    await at.pass({ graceMs: 600_000 })
    const now = Date.now()
    const waiting = at.why('p.png', { now })
    // The time since the record counts too, because a daemon runs.
    const end = new Date(at.synced.meta.get('running_at')! + 600_000).toISOString()
    const path = join(at.pictures, 'p.png')
    const decide = [
      { code: 'bring_back' },
      { command: `albumd deletions approve ${path}` },
      { command: `albumd deletions discard ${path}` },
    ]
    expect(waiting.next).toMatchObject([{ at: end, command: null }, ...decide])
    // The end of the grace is told once: as a time, or as a span where it passes only while albumd runs.
    expect(steps(waiting)).not.toContain('10 min')
    expect(steps(at.why('p.png', { now, running: false }))).toContain('about 10 min more')
    const blocked = (code: string, running: boolean) => {
      blockedBy(at, { endpoint: 'delete', code, message: said('no'), since: now, said_at: now })
      return at.why('p.png', { now, running }).next[1]!.at
    }
    expect(blocked('INVALID_API_KEY', true)).toBe(new Date(now + 3_600_000).toISOString())
    expect(blocked('PLAN_NOT_SUPPORTED', true)).toBe(new Date(now + 900_000).toISOString())
    expect(blocked('PLAN_NOT_SUPPORTED', false)).toBeNull()
    blockedBy(at)
    const stopped = at.why('p.png', { now, running: false })
    expect(stopped.next).toMatchObject([{ at: null }, { command: 'albumd run' }, ...decide])
    at.synced.commitNow(tx => tx.meta.set('running_ms', 600_000))
    const ended = at.why('p.png', { now, running: false })
    expect(ended.next).toMatchObject([{ at: null }, { code: 'run_sync', command: 'albumd sync' }])
  })

  it('brings a folder back to the moment before the first of the pictures that were lost together', async () => {
    const at = await asked()
    const names = ['a/before.png', 'b/other.png', 'a/first.png', 'a/last.png']
    for (const [n, name] of names.entries()) at.write(name, png(3 + n, 3).bytes)
    await at.pass({ graceMs: 600_000 })
    const lostAfterMs = [0, 3_590_000, 3_600_000, 3_620_000]
    for (const [n, name] of names.entries()) {
      rmSync(join(at.pictures, name))
      const clock = { ...systemClock, wall: () => Date.now() + lostAfterMs[n]! }
      await at.pass({ graceMs: 600_000, clock })
    }
    const [first] = at.synced.escrow.atPath(1, 'a/first.png')
    const back = at.why('a/last.png').next.find(({ code }) => code === 'bring_back')!
    expect(back.command).toContain(new Date(first!.since - 1).toISOString())
    expect(back.what).toContain('moved and edited pictures too')
  })

  it('names no time for a deletion that something stops, nor does the list of deletions', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    at.write('other.png', png(9, 3).bytes)
    await at.pass({ graceMs: 600_000 })
    rmSync(join(at.pictures, 'p.png'))
    await at.pass({ graceMs: 600_000 })
    const config = { ...at.config, state_dir: tempFolder() }
    const daemon = lockState(stateFiles(config.state_dir).lock)
    const now = Date.now()
    const listed = () => listPending(config, at.synced, undefined, now)[0]!
    try {
      expect(listed()).toMatchObject({
        goes_at: expect.stringMatching(/^20/),
        next: [{ code: 'grace_runs' }],
      })
      const message = said('nobody there')
      blockedBy(at, { endpoint: 'delete', code: 'HOST_UNREACHABLE', message, since: now, said_at: now })
      expect(listed()).toMatchObject({
        goes_at: null,
        next: [{ code: 'grace_runs' }, { code: 'host_away' }],
      })
      expect(at.why('p.png', { now }).next[1]).toEqual(listed().next[1])
      blockedBy(at)
      rmSync(at.pictures, { recursive: true })
      await at.pass({ graceMs: 600_000 })
      expect(listed()).toMatchObject({
        goes_at: null,
        next: [{ code: 'grace_runs' }, { code: 'root_missing' }],
      })
      expect(at.why('p.png', { now }).next).toContainEqual(listed().next[1])
    } finally {
      daemon.release()
    }
  })

  it('names no time for a deletion that a folder in doubt stops, and tells of the folder once', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    at.write('other/q.png', png(9, 3).bytes)
    at.write('r.png', png(10, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    at.write('other/.albumdignore', Buffer.from([0xff]))
    await at.pass()
    const { next } = at.why('p.png', { running: false })
    expect(next).toMatchObject([{ code: 'folder_in_doubt', at: null }])
    rmSync(join(at.pictures, 'r.png'))
    expect(codes(at.why('r.png', { running: false }))).toEqual(['folder_in_doubt', 'bring_back', 'keep'])
    expect(
      next.filter(({ what }) => what.includes('in doubt') || what.includes('wait because')),
    ).toMatchObject([
      { what: expect.stringMatching(/^Deletions wait because of \S+\/other \(Ignore [^()]+\)\. \w/) },
    ])
  })

  it('tells what becomes of an image that has no grace', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    at.write('other.png', png(9, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    await at.pass({}, 'look')
    const now = Date.now()
    expect(at.why('p.png', { now, running: false }).next).toMatchObject([
      { code: 'goes_next' },
      { code: 'goes_by_sync', command: 'albumd sync' },
    ])
  })

  it('says before a sync what it would delete, how the picture comes back, and how its image is kept', async () => {
    const at = await asked()
    at.write('a/p.png', png(3, 3).bytes)
    at.write('other.png', png(9, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'a/p.png'))
    const now = Date.now()
    const told = at.why('a/p.png', { now, running: false })
    const full = join(at.pictures, 'a/p.png')
    expect(told.reason).toContain('(since then gone from the disk)')
    expect(told.next).toMatchObject([
      { code: 'goes_by_sync', command: 'albumd sync' },
      {
        code: 'bring_back',
        command: `albumd restore ${join(at.pictures, 'a')} --at ${new Date(now - 1).toISOString()}`,
      },
      { code: 'keep', command: `albumd deletions discard ${full}` },
    ])
    expect(told.next[0]!.what).toContain('to delete it at once')
    // A daemon scans soon, and gives a grace.
    expect(at.why('a/p.png', { now }).next).toMatchObject([{ code: 'looked_at_again' }])
    await at.decide('discard', 'a/p.png')
    expect(at.why('a/p.png', { running: false }).next.map(({ code }) => code)).not.toContain('goes_by_sync')
  })

  it('knows a picture that moved back to the path of its first image', async () => {
    const at = await asked()
    at.write('a/p.png', png(3, 3).bytes)
    at.write('stays.png', png(8, 9).bytes)
    await at.pass()
    const move = async (from: string, to: string) => {
      renameSync(join(at.pictures, from), join(at.pictures, to))
      await at.pass({ graceMs: 600_000 })
    }
    await move('a/p.png', 'q.png')
    expect(at.why('a/p.png').reason).toBe('the same picture lies at q.png')
    await move('q.png', 'a/p.png')
    expect(at.why('a/p.png')).toMatchObject({ state: 'synced' })
    const gone = at.why('q.png', { running: false })
    expect(gone).toMatchObject({ state: 'gone', reason: 'the same picture lies at a/p.png' })
    expect(gone.next.map(({ code }) => code)).not.toContain('bring_back')
  })

  it('advises no restore of a picture that moved, and records why its image stays until it is sent', async () => {
    const at = await asked()
    at.write('a/p.png', png(3, 3).bytes)
    at.write('stays.png', png(9, 9).bytes)
    await at.pass()
    renameSync(join(at.pictures, 'a'), join(at.pictures, 'b'))
    const refused = failure('quota', 'DAILY_LIMIT_REACHED', 'upload', {
      status: 429,
      retryAfterMs: 3_600_000,
    })
    const host = hostWith(at.host, { requestUpload: async () => refused })
    // Read so late that the file can't change any more without a new timestamp.
    const read = async (root: string, path: string) =>
      Object.assign(await openPicture(root, path, { changed: () => new Error() }), {
        readAt: Number.MAX_VALUE,
      })
    await at.pass({ host, openPicture: read, graceMs: 600_000 })
    expect(codes(at.why('a/p.png'))).toEqual(['grace_runs', 'keep'])
    expect(codes(at.why('a'))).toEqual(['grace_runs', 'keep'])
    await at.pass({ host, openPicture: read, running: () => 700_000 })
    expect(at.why('a/p.png').reason).toBe('the same picture lies at b/p.png')
    const { next } = at.why('a/p.png')
    expect(next).toMatchObject([
      { code: 'image_stays', what: expect.stringContaining('b/p.png'), as_of: expect.stringMatching(/^20/) },
    ])
    await at.pass({ host, openPicture: read, running: () => 800_000 })
    expect(at.why('a/p.png').next[0]!.as_of).toBe(next[0]!.as_of)
    expect(listPending(at.config, at.synced, undefined, Date.now())).toMatchObject([
      { path: 'a/p.png', moved_to: 'b/p.png', goes_at: null, next: [{ code: 'image_stays' }, {}] },
    ])
    expect(at.why('b/p.png').next).toMatchObject([{ code: 'quota_used_up' }, { code: 'quota_raised' }])
  })

  it('says of a renamed picture that is not read yet that it perhaps moved, and advises no deletion', async () => {
    const at = await asked()
    for (const [n, name] of ['a.png', 'b.png', 'c.png'].entries()) at.write(`old/${name}`, png(3, 3, n).bytes)
    at.write('x/gone.png', png(9, 9).bytes)
    at.write('y/stays.png', png(8, 9).bytes)
    await at.pass()
    renameSync(join(at.pictures, 'old'), join(at.pictures, 'new'))
    rmSync(join(at.pictures, 'x/gone.png'))
    await at.pass({ graceMs: 600_000 }, 'look')
    const advice = (path: string) => codes(at.why(path, { running: false }))
    for (const path of ['old/a.png', 'old']) {
      expect(advice(path)).toContain('keep')
      for (const code of ['end_grace', 'bring_back']) expect(advice(path)).not.toContain(code)
    }
    expect(advice('x/gone.png')).toContain('end_grace')
    await at.synced.commit(tx => held(tx, 1, 0))
    at.synced.commitNow(tx =>
      tx.escrow.unproved({ image: tx.escrow.atPath(1, 'old/a.png')[0]!.image, due_at: 0 }),
    )
    expect(at.why('old/a.png').deletions).toMatchObject([{ state: 'unproved' }])
    expect(advice('old/a.png')).not.toContain('approve')
  })

  it('says at once of many that they wait longer, how many, where and until when, until a person decides', async () => {
    const at = await asked()
    const many = { graceMs: 600_000, graceManyMs: 86_400_000 }
    for (let n = 0; n < 10; n++) at.write(`${n % 2 ? 'odd/' : ''}${n}.png`, png(2 + n, 2).bytes)
    await at.pass(many)
    for (const name of ['0', 'odd/1', 'odd/3', 'odd/5']) rmSync(join(at.pictures, `${name}.png`))
    await at.pass(many)
    const now = Date.now()
    const told = (running = true) => statusOf(at.config, at.synced, running, now).mirrors[0]!.many
    const folders = { named: ['odd', ''], others: 0 }
    expect(told()).toMatchObject({ deletions: 4, folders, news: true })
    expect(Math.abs(Date.parse(told()!.until!) - now - 86_400_000)).toBeLessThan(5000)
    expect(told()!.running_ms).toBeNull()
    const left = told(false)!
    expect(left).toMatchObject({ deletions: 4, until: null })
    expect(Math.abs(left.running_ms! - 86_400_000)).toBeLessThan(5000)
    expect(codes(at.why('0.png', { now }))).toEqual(['many_wait', 'bring_back', 'end_grace', 'keep'])
    expect(listPending(at.config, at.synced, undefined, now)[0]).toMatchObject({
      state: 'many',
      next: [{ code: 'many_wait' }, { code: 'run_daemon' }],
    })
    await at.decide('discard', 'odd')
    expect(told()).toMatchObject({ deletions: 1 })
    await at.decide('approve', '0.png')
    expect(told()).toBeNull()
  })

  it('shows an address that the host has not told as the list of deletions does', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    at.write('other.png', png(9, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    await at.pass({ graceMs: 600_000 })
    const listed = () => listPending(at.config, at.synced, undefined, Date.now())[0]!
    const told = listed()
    const { id, hash, size } = at.synced.images.byRemoteId(told.image_id)!
    at.synced.commitNow(tx => tx.images.prove({ id, hash, size, cdn_url: null }))
    expect(told.cdn_url).toMatch(/^http/)
    expect(listed().cdn_url).toBe(told.cdn_url)
    expect(at.why('p.png').image?.cdn_url).toBe(told.cdn_url)
  })

  it('does not speak of a grace when the host refused the deletion', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    at.write('other.png', png(9, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    const deleteImage = async () => failure('not_permitted', 'FORBIDDEN', 'delete')
    for (const _ of ['found gone', 'given up']) await at.pass({ host: hostWith(at.host, { deleteImage }) })
    const kept = at.events.find(({ event }) => event === 'image_kept')
    expect(eventInWords(spoken(kept!))).toBe(
      'did not delete the image of p.png: the host refused the deletion (the host said FORBIDDEN)',
    )
    const now = Date.now()
    const waiting = at.why('p.png', { now })
    expect(events(waiting).at(-1)).toBe('postponed')
    expect(waiting.next).toMatchObject([
      { code: 'host_refused', at: expect.stringMatching(/^20/), as_of: expect.stringMatching(/^20/) },
      { command: `albumd retry ${join(at.pictures, 'p.png')}` },
    ])
    const stopped = at.why('p.png', { now, running: false })
    expect(stopped.next).toMatchObject([{ code: 'host_refused', at: null }, { command: 'albumd sync' }])
    at.write('p.png', png(3, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    await at.pass({ graceMs: 600_000 })
    expect(codes(at.why('p.png', { now }))).toContain('grace_runs')
  })
})
