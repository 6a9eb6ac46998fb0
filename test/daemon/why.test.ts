import { renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configExample } from '../../src/config/example.ts'
import type { Config } from '../../src/config/schema.ts'
import { approve, listHeld } from '../../src/daemon/held-deletions.ts'
import { contentStep } from '../../src/daemon/why/content-step.ts'
import { explain } from '../../src/daemon/why/explain.ts'
import type { Explanation } from '../../src/daemon/why/explanation.ts'
import type { StepParts } from '../../src/daemon/why/next-steps.ts'
import { realDisk } from '../../src/local/real-disk.ts'
import { hostWith } from '../../src/remote/host-with.ts'
import type { MirrorPolicy } from '../../src/sync/mirror-scans.ts'
import { parse } from '../config/config-text.ts'
import { png } from '../pictures.ts'
import { failure, openWorkshop, type Workshop } from '../sync/workshop.ts'
import { sha256 } from './sha256.ts'

interface Asked extends Workshop {
  config: Config
  why(path: string, changes?: Partial<StepParts>): Explanation
}

const OPEN = {
  running: true,
  quota: { exhausted: false, resumes_at: null, next_probe_at: null, limit: 5000, reserve: 500 },
  blocks: [],
}

async function asked(policy: Partial<MirrorPolicy> = {}): Promise<Asked> {
  const workshop = await openWorkshop(policy)
  const { folder, album, deletions, ignore } = workshop.mirror
  const mirror = { folder, album, deletions, ignore: [...ignore] }
  const config = { ...parse(configExample()), mirrors: [mirror] }
  const why = (path: string, changes: Partial<StepParts> = {}) =>
    explain(
      { config, synced: workshop.synced, disk: realDisk, status: OPEN, now: Date.now() + 5000, ...changes },
      { mirror, path },
    )
  return { ...workshop, config, why }
}

const events = ({ history }: Explanation) => history.map(({ event }) => event)
const steps = ({ next }: Explanation) => next.map(({ what }) => what).join('\n')

describe('why, of a picture', () => {
  it('tells from the day it was found to the day its image went', async () => {
    const at = await asked()
    const picture = png(4, 3).bytes
    at.write('a/one.png', picture)
    expect(at.why('a/one.png')).toMatchObject({ state: 'unseen', image: null, history: [] })
    await at.pass()
    const synced = at.why('a/one.png')
    expect(synced).toMatchObject({
      path: join(at.pictures, 'a/one.png'),
      state: 'synced',
      album: { path: 'Photos/a', id: expect.any(String) },
      hash: sha256(picture),
      image: {
        album: 'Photos/a',
        name: 'one.png',
        proof: 'uploaded',
        cdn_url: expect.stringMatching(/^http/),
      },
      next: [],
    })
    expect(events(synced)).toEqual(['found', 'uploaded'])

    at.write('a/one.png', png(14, 3).bytes)
    utimesSync(join(at.pictures, 'a/one.png'), 1, 1)
    expect(at.why('a/one.png').reason).toContain('since then: changed: ')
    await at.pass()
    const changed = at.why('a/one.png')
    expect(events(changed)).toEqual(['found', 'uploaded', 'changed', 'uploaded', 'deleted'])
    expect(changed.history.slice(-2)).toMatchObject([
      { detail: 'its old image is to be deleted' },
      { detail: 'it was of an older version' },
    ])

    renameSync(join(at.pictures, 'a/one.png'), join(at.pictures, 'two.png'))
    await at.pass()
    expect(at.why('two.png').history).toMatchObject([
      { event: 'found' },
      { event: 'uploaded', detail: 'moved from a/one.png' },
    ])
    const moved = at.why('a/one.png')
    expect(moved).toMatchObject({ state: 'absent', image: null, next: [] })
    expect(moved.reason).toContain('the picture moved to two.png')
    expect(events(moved).slice(-2)).toEqual(['gone', 'deleted'])

    rmSync(join(at.pictures, 'two.png'))
    await at.pass()
    expect(at.why('two.png').reason).toContain('its image was deleted: the picture is gone')
  })

  it('notes that bytes are the same after another time, and nothing of a mere touch', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass()
    utimesSync(join(at.pictures, 'p.png'), 1, 1)
    await at.pass()
    expect(events(at.why('p.png'))).toEqual(['found', 'uploaded', 'changed', 'unchanged'])
    await at.pass()
    expect(at.why('p.png').history).toHaveLength(4)
  })

  it('gives the commands for a held image', async () => {
    const at = await asked()
    const hold = { hold_above: 0.25, hold_min: 1 }
    for (const n of [0, 1, 2, 3]) at.write(`it's/${n}.png`, png(2 + n, 2).bytes)
    await at.pass({ hold })
    for (const n of [0, 1, 2]) rmSync(join(at.pictures, `it's/${n}.png`))
    await at.pass({ hold })
    const held = at.why("it's/0.png")
    expect(held).toMatchObject({ state: 'gone', deletions: [{ state: 'held', reason: 'deleted' }] })
    expect(events(held)).toEqual(['found', 'uploaded', 'gone', 'held'])
    const path = `'${join(at.pictures, "it'\\''s/0.png")}'`
    expect(held.next.map(({ command }) => command)).toEqual([
      `albumd deletions approve ${path}`,
      `albumd deletions discard ${path}`,
    ])
    await approve(at.synced, listHeld(at.config, at.synced, "it's/0.png"))
    await at.pass({ hold })
    expect(events(at.why("it's/0.png"))).toEqual(['found', 'uploaded', 'gone', 'held', 'approved', 'deleted'])
    expect(at.why("it's/0.png").state).toBe('absent')
  })

  it('tells how long the grace still is, and that a doubt stops it', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass({ graceMs: 600_000 })
    rmSync(join(at.pictures, 'p.png'))
    at.write('other.png', png(9, 3).bytes)
    await at.pass({ graceMs: 600_000 })
    const now = Date.now()
    const waiting = at.why('p.png', { now })
    expect(waiting.next).toMatchObject([{ at: new Date(now + 600_000).toISOString(), command: null }])
    expect(steps(waiting)).toContain('about 10 min are left')
    const stopped = at.why('p.png', { now, status: { ...OPEN, running: false } })
    expect(stopped.next).toMatchObject([{ at: null }, { command: 'albumd sync' }])
  })

  it('tells what a failed one waits for, and one whose outcome is not known', async () => {
    const at = await asked()
    at.write('no.png', 'this is no picture')
    await at.pass()
    const failed = at.why('no.png')
    expect(failed).toMatchObject({
      state: 'failed',
      failure: { code: 'NOT_A_PICTURE', next_attempt_at: null },
    })
    expect(failed.next).toMatchObject([
      { what: 'it is tried again once the file changes' },
      { command: `albumd retry ${join(at.pictures, 'no.png')}` },
    ])
    expect(events(failed)).toEqual(['found', 'failed'])

    at.write('lost.png', png(7, 7).bytes)
    const host = hostWith(at.host, { send: async () => failure('find_out', 'HOST_TIMEOUT', 'send') })
    await at.pass({ host })
    const uncertain = at.why('lost.png')
    expect(uncertain).toMatchObject({ state: 'uncertain', failure: { code: 'UNCERTAIN' } })
    expect(uncertain.next[0]!.at).toBe(uncertain.failure!.next_attempt_at)
    expect(uncertain.next[1]).toMatchObject({ command: expect.stringContaining('albumd retry --resend ') })
    expect(events(uncertain)).toContain('uncertain')
  })

  it('tells what uploads wait for, and until when', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass({ onlyAdopt: true })
    expect(at.why('p.png')).toMatchObject({
      state: 'pending',
      reason: 'new',
      next: [{ what: 'it is uploaded' }],
    })
    const resumes_at = '2030-01-01T00:00:00.000Z'
    const used = { ...OPEN, quota: { ...OPEN.quota, exhausted: true, resumes_at } }
    expect(at.why('p.png', { status: used }).next).toMatchObject([{ at: resumes_at }])
    const said_at = '2029-12-31T00:00:00.000Z'
    const full = {
      endpoint: 'upload',
      code: 'STORAGE_LIMIT_REACHED',
      message: 'full',
      since: said_at,
      said_at,
    }
    const blocked = at.why('p.png', { status: { ...OPEN, blocks: [full] } })
    expect(blocked.next).toMatchObject([{ at: '2029-12-31T00:15:00.000Z' }])
    expect(steps(blocked)).toContain('full (STORAGE_LIMIT_REACHED)')
    // Without a daemon `sync` would stop there too.
    const alone = at.why('p.png', { status: { ...used, running: false } })
    expect(alone.next).toMatchObject([{ at: resumes_at }, { command: 'albumd sync' }])
    expect(steps(alone)).toContain("today's uploads are used up")
    at.synced.meta.set('paused', '1')
    expect(at.why('p.png', { status: used }).next).toMatchObject([{ command: 'albumd resume' }])
    at.synced.meta.clear('paused')
    const young = at.why('p.png', { now: Date.now() })
    expect(steps(young)).toContain('left alone')
  })

  it('tells that an older one waits while only the reserve is left, and a new one does not', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass({ onlyAdopt: true })
    const found = at.synced.files.inState('pending')[0]!
    const now = Date.now()
    const day = new Date(now - 1000)
    at.synced.meta.set('quota_day', day.toISOString())
    for (let n = 0; n < 8; n++) at.synced.account.useQuota(day.toISOString())
    const { host } = at.config
    const few = { ...at.config, host: { ...host, daily_quota: 10, quota_reset: undefined } }
    const status = { ...OPEN, quota: { ...OPEN.quota, limit: 10, reserve: 2 } }
    const why = (since: number, changes: Partial<StepParts> = {}) => {
      at.synced.files.put({ ...found, since })
      return at.why('p.png', { config: few, status, now: now + 5000, ...changes })
    }
    const waiting = why(now - 60_000)
    expect(waiting.next).toMatchObject([{ what: expect.stringContaining('quota.reserve') }])
    expect(Date.parse(waiting.next[0]!.at!)).toBeGreaterThan(now)
    expect(steps(why(now))).not.toContain('quota.reserve')
    const oldest = { ...status, quota: { ...status.quota, reserve: 0 } }
    expect(steps(why(now - 60_000, { status: oldest }))).not.toContain('quota.reserve')
  })

  it('tells of one that is half written what it lacks, and how long that is waited for', async () => {
    const at = await asked()
    const [mirror] = at.config.mirrors
    const whole = png(30, 30).bytes
    at.write('half.png', whole.subarray(0, whole.length - 12))
    at.write('whole.png', whole)
    at.write('no.png', 'this is no picture')
    const changed = statSync(join(at.pictures, 'half.png')).ctimeMs
    const step = (path: string, incomplete: 'leave' | 'send') =>
      contentStep({ watch: { ...at.config.watch, incomplete } }, { mirror: mirror!, path })
    const left = await step('half.png', 'leave')
    expect(left!.what).toMatch(/^it is not complete \(.+\).* failure until it changes$/)
    expect(Date.parse(left!.at!)).toBe(Math.floor(Math.round(changed * 1000) / 1000 + 600_000))
    expect((await step('half.png', 'send'))!.what).toContain('sent as it is')
    expect((await step('no.png', 'leave'))!.what).toContain('no picture')
    expect(await step('whole.png', 'leave')).toBeNull()
    expect((await step('gone.png', 'leave'))!.what).not.toBe('')
  })

  it('keeps an image that a backup holds, and says so', async () => {
    const at = await asked({ deletions: 'keep' })
    at.write('p.png', png(3, 3).bytes)
    at.write('q.png', png(4, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    await at.pass()
    const kept = at.why('p.png')
    expect(kept).toMatchObject({ state: 'kept', image: { name: 'p.png' }, deletions: [] })
    expect(kept.reason).toContain('this mirror keeps images')
    expect(events(kept)).toEqual(['found', 'uploaded', 'kept'])
  })
})

describe('why, of what is left out', () => {
  it('names the rule, its file and its line, or what else it is', async () => {
    const at = await asked({ ignore: ['*.bak.png', 'Private/'] })
    const picture = png(4, 3).bytes
    for (const path of ['x.bak.png', 'Private/deep/p.png', 'b/c.png', 'b/keep.png', '.dot/x.png'])
      at.write(path, picture)
    at.write('b/.albumdignore', '# not these\n\nc.*\n*.png\n!keep.png\n')
    at.write('IMG.HEIC', 'x')
    at.write('empty.png', '')
    symlinkSync('b/keep.png', join(at.pictures, 'link.png'))
    const latin1 = [Buffer.from(`${at.pictures}/b`), Buffer.from([0xe4]), Buffer.from('r.png')]
    writeFileSync(Buffer.concat(latin1), picture)
    await at.pass()
    const left = (path: string) => {
      const { state, left_out } = at.why(path)
      expect(state, path).toBe('left_out')
      return left_out
    }
    expect(left('x.bak.png')).toMatchObject({
      why: 'ignored',
      rule: { pattern: '*.bak.png', file: null, line: 1 },
    })
    expect(left('Private/deep/p.png')).toEqual({
      why: 'ignored',
      path: join(at.pictures, 'Private'),
      rule: { pattern: 'Private/', file: null, line: 2 },
    })
    const file = join(at.pictures, 'b/.albumdignore')
    expect(left('b/c.png')).toMatchObject({ why: 'ignored', rule: { pattern: '*.png', file, line: 4 } })
    expect(at.why('b/c.png').reason).toContain(`hidden by the rule *.png in line 4 of ${file}`)
    expect(left('.dot/x.png')).toMatchObject({ why: 'hidden', path: join(at.pictures, '.dot') })
    expect(left('IMG.HEIC')).toMatchObject({ why: 'format' })
    expect(left('empty.png')).toMatchObject({ why: 'empty' })
    expect(left('link.png')).toMatchObject({ why: 'links' })
    expect(left('b/.albumdignore')).toMatchObject({ why: 'ignore_file' })
    expect(left('b\\xe4r.png')).toMatchObject({ why: 'NAME_NOT_UTF8' })
    expect(at.why('b/keep.png')).toMatchObject({ state: 'synced', left_out: null })
  })

  it('says that its image stays, and how it can go', async () => {
    const at = await asked()
    at.write('p.png', png(4, 3).bytes)
    await at.pass()
    at.write('.albumdignore', 'p.png\n')
    await at.pass()
    const hidden = at.why('p.png')
    expect(hidden).toMatchObject({ state: 'hidden', left_out: { why: 'ignored' }, image: { name: 'p.png' } })
    expect(hidden.next).toMatchObject([{ command: 'albumd sync --prune-ignored' }])
    expect(events(hidden)).toEqual(['found', 'uploaded', 'left_out'])
  })
})

describe('why, of a folder', () => {
  it('tells what it holds and which album stands for it', async () => {
    const at = await asked()
    at.write('a/b/p.png', png(4, 3).bytes)
    at.write('a/q.png', 'no picture')
    at.write('a/notes.txt', 'x')
    at.write('ab.png', png(5, 3).bytes)
    await at.pass()
    expect(at.why('a')).toMatchObject({
      state: 'folder',
      album: { path: 'Photos/a' },
      counts: { files: 2, states: { synced: 1, failed: 1 }, left_out: { format: 1 } },
    })
    expect(at.why('')).toMatchObject({ state: 'folder', path: at.pictures, counts: { files: 3 } })
  })

  it('tells that it is in doubt, as of all that lies in it, and what ends that', async () => {
    const at = await asked()
    for (let n = 0; n < 25; n++) at.write(`a/${n}.png`, png(2 + n, 2).bytes)
    at.write('z.png', png(40, 2).bytes)
    await at.pass()
    for (let n = 0; n < 25; n++) rmSync(join(at.pictures, `a/${n}.png`))
    await at.pass()
    for (const path of ['a', 'a/3.png']) {
      const { reason, guard, next } = at.why(path)
      expect(reason).toContain('are gone at once')
      expect(guard).toContain('albumd trust')
      expect(next[0]!.what).toContain('albumd trust')
    }
    expect(at.why('z.png').state).toBe('synced')
  })
})
