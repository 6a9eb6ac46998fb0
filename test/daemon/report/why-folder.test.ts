import { chmodSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { leftOutLines } from '../../../src/cli/terminal/left-out.ts'
import { retried } from '../../../src/records/pictures.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { because } from '../../../src/words/reasons.ts'
import { asNobody } from '../../nobody.ts'
import { png } from '../../pictures.ts'
import { failure } from '../../sync/workshop.ts'
import { asked } from './asked.ts'

describe('why, of a folder', () => {
  it('tells what the folder holds and which album it belongs to', async () => {
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

  it('tells what the pictures in a folder wait for that are to be sent', async () => {
    const at = await asked()
    at.write('a/b/p.png', png(4, 3).bytes)
    await at.pass()
    expect(at.why('a').next).toEqual([])
    at.write('a/b/q.png', png(5, 3).bytes)
    await at.pass({}, 'look')
    expect(at.why('a', { running: false }).next).toMatchObject([{ code: 'run_sync', command: 'albumd sync' }])
    expect(at.why('a').next).toEqual([])
    const refused = failure('quota', 'DAILY_LIMIT_REACHED', 'upload', { status: 429 })
    await at.pass({ host: hostWith(at.host, { requestUpload: async () => refused }) })
    expect(at.why('a').next).toMatchObject([{ code: 'quota_used_up' }, { code: 'quota_raised' }])
  })

  it('is told by ls --left-out of a folder that can not be read that nothing in it is listed', async () => {
    const at = await asked()
    at.write('a.txt', 'x')
    at.write('shut/b.txt', 'x')
    const shut = join(at.pictures, 'shut')
    chmodSync(dirname(at.pictures), 0o755)
    chmodSync(shut, 0)
    const told = (path: string, isJson: boolean) =>
      asNobody(() => [...leftOutLines([{ mirror: at.mirror, path }], isJson)].join(''))
    const [all, ofFolder, inJson] = [await told('', false), await told('shut', false), await told('', true)]
    chmodSync(shut, 0o755)
    expect(all).toMatch(/^.*\/a\.txt: .*$/m)
    expect(all).toMatch(
      /^.*\/shut: Folder can't be read \(EACCES\), so what lies in it is not listed\. Let the user/m,
    )
    expect(all).toContain('left out: 1 (1 TXT); the host takes png, ')
    expect(ofFolder).toContain(`${shut}: Folder can't be read (EACCES). Let the user`)
    expect(JSON.parse(inJson)).toMatchObject({
      left_out: [{ path: join(at.pictures, 'a.txt') }],
      unread: [{ mirror: at.pictures, path: shut, reason: expect.stringContaining('not listed') }],
    })
  })

  it('names the album of a folder that can not be read, and of a folder in such a folder', async () => {
    const at = await asked()
    at.write('a/b/p.png', png(4, 3).bytes)
    await at.pass()
    at.write('new/q.png', png(5, 3).bytes)
    chmodSync(dirname(at.pictures), 0o755)
    for (const path of ['a', 'new']) chmodSync(join(at.pictures, path), 0)
    const albums = await asNobody(() =>
      ['a', 'a/b', 'a/b/p.png', 'new'].map(path => [at.why(path).state, at.why(path).album.path]),
    )
    for (const path of ['a', 'new']) chmodSync(join(at.pictures, path), 0o755)
    expect(albums).toEqual([
      ['unknown', 'Photos/a'],
      ['unknown', 'Photos/a/b'],
      ['unknown', 'Photos/a/b'],
      ['unknown', 'Photos/new'],
    ])
  })

  it('tells what a folder holds that can not be read, and that its images stay, before a scan and after', async () => {
    const at = await asked()
    at.write('a/b/p.png', png(4, 3).bytes)
    at.write('a/q.png', png(5, 3).bytes)
    at.write('z.png', png(40, 2).bytes)
    await at.pass()
    chmodSync(dirname(at.pictures), 0o755)
    for (const mode of [0, 0o311]) {
      chmodSync(join(at.pictures, 'a'), mode)
      const told = await asNobody(() => at.why('a'))
      expect(told).toMatchObject({ state: 'unknown', counts: { files: 2, states: { synced: 2 } } })
      expect(told.reason).toMatch(/^Folder can't be read \(EACCES\)\. /)
      expect(told.next).toMatchObject([{ code: 'nothing_sent_there' }])
    }
    at.synced.commitNow(tx => {
      const folder = tx.folders.at(at.synced.mirrors.of(at.pictures)!.id, 'a')!
      tx.folders.setUnknown({ id: folder.id, unknown: because('folder_unreadable', { code: 'EACCES' }) })
    })
    const doubted = await asNobody(() => at.why('a'))
    chmodSync(join(at.pictures, 'a'), 0o755)
    expect(doubted).toMatchObject({ counts: { files: 2 }, next: [{ code: 'nothing_sent_there' }] })
    expect(doubted.reason).toMatch(/^Folder can't be read \(EACCES\), in /)
  })

  it('tells of a picture in a folder in doubt that it is not sent, whether a scan has seen it or not', async () => {
    const at = await asked()
    at.write('a/seen.png', 'no picture')
    await at.pass()
    at.write('a/new.png', png(4, 3).bytes)
    at.synced.commitNow(tx => {
      const folder = tx.folders.at(at.synced.mirrors.of(at.pictures)!.id, 'a')!
      retried(tx, [{ folder: folder.id, name: 'seen.png' }])
      tx.failures.clear(folder.id, 'seen.png')
      tx.folders.setUnknown({ id: folder.id, unknown: because('ignore_file_vanished') })
    })
    const sent = 'nothing in the folder is sent meanwhile, and the images of its pictures stay'
    expect(at.why('a/seen.png')).toMatchObject({ state: 'pending', next: [{ what: sent }] })
    expect(at.why('a/new.png')).toMatchObject({ state: 'unknown', next: [{ what: sent }] })
  })

  it('tells that a folder and everything in it is in doubt, and what ends the doubt', async () => {
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

  it('tells what became of the images of a folder that is gone', async () => {
    const at = await asked()
    for (let n = 0; n < 3; n++) at.write(`a/b/${n}.png`, png(2 + n, 2).bytes)
    for (let n = 0; n < 6; n++) at.write(`z${n}.png`, png(40 + n, 2).bytes)
    await at.pass()
    // No version of a picture that is there counts as gone.
    at.write('a/b/0.png', png(50, 2).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'a'), { recursive: true })
    expect(at.why('a')).toMatchObject({ state: 'absent', reason: 'the folder is gone', gone: null, next: [] })

    await at.pass({ graceMs: 600_000 })
    const waiting = at.why('a')
    expect(waiting).toMatchObject({ state: 'absent', gone: { waiting: 3, held: 0, kept: 0, deleted: 0 } })
    const path = join(at.pictures, 'a')
    const decisions = [
      { code: 'bring_back', command: expect.stringContaining(`albumd restore ${path} --at `) },
      { code: 'end_grace', command: `albumd deletions approve ${path}` },
      { code: 'keep', command: `albumd deletions discard ${path}` },
    ]
    expect(waiting.next).toMatchObject([{ code: 'grace_runs' }, ...decisions])
    at.synced.commitNow(tx => tx.escrow.hold(at.synced.mirrors.of(at.pictures)!.id))
    const held = at.why('a')
    expect(held.gone).toMatchObject({ waiting: 0, held: 3 })
    expect(held.next).toMatchObject([decisions[0], { ...decisions[1], code: 'approve' }, decisions[2]])

    await at.decide('approve', 'a')
    await at.pass({ running: () => 600_000 })
    for (const folder of ['a', 'a/b']) expect(at.why(folder).gone).toMatchObject({ waiting: 0, deleted: 3 })
    expect(at.why('a/b/9.png').reason).toContain('no record of one')
  })

  it('advises no restore of a renamed folder, but one of a folder that lost some of its pictures', async () => {
    const at = await asked()
    for (let n = 0; n < 3; n++) at.write(`a/b/${n}.png`, png(2 + n, 2).bytes)
    for (let n = 0; n < 3; n++) at.write(`x/${n}.png`, png(7 + n, 2).bytes)
    at.write('z.png', png(40, 2).bytes)
    await at.pass()
    renameSync(join(at.pictures, 'a'), join(at.pictures, 'St. Anna'))
    renameSync(join(at.pictures, 'x/0.png'), join(at.pictures, '0.png'))
    rmSync(join(at.pictures, 'x'), { recursive: true })
    await at.pass({ graceMs: 600_000 })
    const advice = (path: string, now = Date.now()) => at.why(path, { now }).next.map(({ code }) => code)
    expect(advice('a')).toEqual(['grace_runs', 'end_grace', 'keep'])
    expect(advice('a/b/0.png')).toEqual(['grace_runs', 'end_grace', 'keep'])
    expect(advice('x')).toEqual(['grace_runs', 'bring_back', 'end_grace', 'keep'])
    expect(advice('a', at.synced.meta.get('running_at')! + 700_000)).toEqual(['goes_next', 'keep'])
  })

  it('advises no restore of a folder, or of a picture in it, while a file is not read that may be one of the pictures', async () => {
    const at = await asked()
    for (let n = 0; n < 3; n++) at.write(`a/${n}.png`, png(2 + n, 2).bytes)
    at.write('z.png', png(40, 2).bytes)
    await at.pass()
    renameSync(join(at.pictures, 'a/0.png'), join(at.pictures, 'moved.png'))
    rmSync(join(at.pictures, 'a'), { recursive: true })
    await at.pass({ graceMs: 600_000 }, 'look')
    const advice = (path: string) => at.why(path).next.map(({ code }) => code)
    for (const path of ['a', 'a/0.png', 'a/1.png']) {
      expect(advice(path)).toContain('keep')
      expect(advice(path)).not.toContain('bring_back')
    }
    await at.pass({ graceMs: 600_000 })
    for (const path of ['a', 'a/1.png']) expect(advice(path)).toContain('bring_back')
  })

  it('tells that images are kept for good below a folder that is gone and had no pictures of its own', async () => {
    const at = await asked()
    for (let n = 0; n < 3; n++) at.write(`a/b/${n}.png`, png(2 + n, 2).bytes)
    at.write('z.png', png(40, 2).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'a'), { recursive: true })
    await at.pass({ graceMs: 600_000 })
    await at.decide('discard', 'a/b/0.png')
    expect(at.why('a').gone).toMatchObject({ waiting: 2, kept: 1 })
    await at.decide('discard', 'a')
    for (const path of ['a', 'a/b'])
      expect(at.why(path)).toMatchObject({
        state: 'absent',
        gone: { waiting: 0, held: 0, kept: 3, deleted: 0 },
      })
  })
})
