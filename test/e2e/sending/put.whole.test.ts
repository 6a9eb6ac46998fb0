import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { asNobody, NOBODY } from '../../nobody.ts'
import { png } from '../../pictures.ts'
import { serve } from '../../remote/serve.ts'
import { setFaultStage } from '../stage/fault-stage.ts'
import { daemonHere, startDaemon } from '../stage/process.ts'
import { setStage, sha256 } from '../stage/stage.ts'

const fetched = async (url: string) => sha256(new Uint8Array(await (await fetch(url)).arrayBuffer()))

function chownBelow(folder: string, uid: number): void {
  if (process.getuid?.() !== 0) return
  for (const path of ['', ...(readdirSync(folder, { recursive: true }) as string[])])
    chownSync(join(folder, path), uid, uid)
}

describe('put', () => {
  it('sends pictures and prints their addresses, without a daemon and beside one', async () => {
    const stage = await setStage()
    const [first, second] = [png(3, 2).bytes, png(4, 2).bytes]
    stage.write('new/a b.png', first)
    const alone = await stage.albumd('put', 'pictures/new/a b.png')
    expect(alone).toMatchObject({ code: 0, err: '' })
    expect(await fetched(alone.out.trimEnd())).toBe(sha256(first))

    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    stage.write('new/deep/c.png', second)
    const beside = await stage.here('put', 'new/deep/c.png', join(stage.pictures, 'new/a b.png'))
    expect(beside).toMatchObject({ code: 0, err: '' })
    const [address, again] = beside.out.trimEnd().split('\n')
    expect(await fetched(address!)).toBe(sha256(second))
    expect(again).toBe(alone.out.trimEnd())
    expect(await stage.listing()).toHaveLength(2)
    expect(await daemon.stop()).toBe(0)
  })

  it('prints the addresses in the order of the arguments, once notify.on_upload has ended', async () => {
    const stage = await setStage()
    const ended = join(stage.home, 'ended')
    stage.configure({ notify: { on_upload: `touch '${ended}'` } })
    for (const [n, path] of ['a.png', 'b.png'].entries()) stage.write(path, png(3 + n, 2).bytes)
    const { code, out } = await stage.here('put', 'b.png', 'a.png')
    expect([code, existsSync(ended)]).toEqual([0, true])
    const { pictures } = await stage.json('put', 'b.png', 'a.png')
    expect(out.trimEnd().split('\n')).toEqual(pictures.map(({ cdn_url }: { cdn_url: string }) => cdn_url))
  })

  it('leaves what it sent a moment ago as it is when it sends the next picture', async () => {
    const stage = await setStage()
    for (const [n, path] of ['a.png', 'b.png'].entries()) {
      stage.write(path, png(3 + n, 2).bytes)
      expect(await stage.here('put', path)).toMatchObject({ code: 0, err: '' })
    }
    expect((await stage.status()).mirrors).toMatchObject([{ synced: 2, pending_uploads: 0 }])
    expect(await stage.here('url', 'a.png')).toMatchObject({ code: 0, err: '' })
  })

  it('asks the host nothing for a picture that is empty', async () => {
    let requests = 0
    const origin = await serve((_, answer) => {
      requests++
      answer.writeHead(500).end()
    })
    const stage = await setStage()
    stage.configure({ host: { base_url: `${origin}/api/v1`, api_key_file: 'api-key' } })
    stage.write('empty.png', '')
    expect(await stage.here('put', 'empty.png')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/empty\.png: empty\n$/),
    })
    expect(requests).toBe(0)
  })

  it('sends and deletes nothing else, and says what a picture waits for', async () => {
    const stage = await setStage({ pictures: { 'a/old.png': png(2, 2).bytes } })
    rmSync(join(stage.pictures, 'a/old.png'))
    stage.write('a/beside.png', png(3, 2).bytes)
    stage.write('a/named.png', png(4, 2).bytes)
    expect(await stage.here('put', 'a/named.png')).toMatchObject({ code: 0, err: '' })
    expect(Object.keys(await stage.delivered()).sort()).toEqual(['Photos/a/named.png', 'Photos/a/old.png'])
    const { bytes } = png(40, 30)
    stage.write('a/half.png', bytes.subarray(0, bytes.length / 2))
    const half = await stage.here('put', 'a/half.png')
    expect(half).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringMatching(/half\.png: .*: albumd sync\n$/),
    })
    await stage.here('pause')
    const paused = await stage.here('put', 'a/beside.png')
    expect(paused).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining('beside.png: albumd is paused'),
    })
  })

  it('leaves what it finds gone and replaced to the next sync, or to the grace of a daemon', async () => {
    const pictures = { 'gone.png': png(2, 2).bytes, 'edited.png': png(3, 3).bytes }
    const stage = await setStage({ pictures, config: { deletions: { grace: '1h' } } })
    const goAt = async () => {
      const { deletions } = await stage.json('deletions', 'list')
      return deletions.map(({ goes_at }: { goes_at: string | null }) => goes_at)
    }
    rmSync(join(stage.pictures, 'gone.png'))
    stage.write('edited.png', png(4, 4).bytes)
    expect(await stage.here('put', 'edited.png')).toMatchObject({ code: 0, err: '' })
    expect(await stage.paths()).toHaveLength(3)
    expect(await stage.pass()).toMatchObject({ exit_code: 0, deleted: 2 })

    stage.write('edited.png', png(5, 5).bytes)
    expect(await stage.here('put', 'edited.png')).toMatchObject({ code: 0, err: '' })
    expect(await goAt()).toEqual([null])
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    const [goesAt] = await goAt()
    expect(Date.parse(goesAt)).toBeGreaterThan(Date.now() + 3_000_000)
    expect(await daemon.stop()).toBe(0)
  })

  it('has a picture that is empty or grows put again, and sends those beside it', async () => {
    const stage = await setStage()
    const { bytes } = png(40, 30)
    stage.write('whole.png', bytes)
    for (const length of [0, 40, bytes.length / 2]) {
      stage.write('grows.png', bytes.subarray(0, length))
      const { code, out } = await stage.here('put', 'pictures/grows.png', 'pictures/whole.png', '--json')
      expect(code).toBe(3)
      expect(JSON.parse(out).pictures).toMatchObject([
        {
          cdn_url: null,
          code: 'NOT_READY',
        },
        { cdn_url: expect.stringContaining('http'), code: null },
      ])
    }
    stage.write('grows.png', bytes)
    expect(await stage.here('put', 'pictures/grows.png')).toMatchObject({ code: 0, err: '' })
  })

  it('prints the addresses of the others when a picture moved or is gone, and says which', async () => {
    const names = ['a.png', 'moved.png', 'gone.png', 'missed.png']
    const pictures = Object.fromEntries(names.map((name, n) => [name, png(3 + n, 2).bytes]))
    const stage = await setStage({ pictures })
    rmSync(join(stage.pictures, 'moved.png'))
    rmSync(join(stage.pictures, 'gone.png'))
    stage.write('sub/there.png', pictures['moved.png']!)
    const found = await stage.here('put', 'sub/there.png')
    expect(found).toMatchObject({ code: 0 })
    // No scan has missed this one.
    rmSync(join(stage.pictures, 'missed.png'))
    const put = await stage.here('put', '--json', ...names, 'never.png')
    expect(put.code).toBe(3)
    expect(JSON.parse(put.out).pictures).toMatchObject([
      { cdn_url: expect.stringContaining('http'), code: null, reason: null },
      { cdn_url: null, code: 'MOVED', reason: 'the same picture lies at sub/there.png' },
      { cdn_url: null, code: 'GONE', reason: 'gone from the disk' },
      { cdn_url: null, code: 'GONE', reason: expect.stringContaining('gone from the disk') },
      { cdn_url: null, code: 'GONE', reason: 'No such file, and no record of one' },
    ])
    expect(await stage.here('put', 'moved.png', 'a.png')).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^http\S+\n$/),
      err: expect.stringMatching(/\/moved\.png: the same picture lies at sub\/there\.png\n$/),
    })
  })

  it('says in one sentence that the quota is used up, and who sends the picture when', async () => {
    const stage = await setStage({ pictures: { 'old.png': png(2, 2).bytes }, host: { dailyQuota: 1 } })
    stage.write('new.png', png(3, 2).bytes)
    const alone = await stage.here('put', 'new.png')
    expect(alone).toMatchObject({ code: 3, out: '' })
    const [line, ...more] = alone.err.trimEnd().split('\n')
    expect(more).toEqual([])
    expect(line).toMatch(/new\.png: waits for quota.*; next try at \d{4}-.*at once with "albumd retry"/)
    const { out } = await stage.here('put', 'new.png', '--json')
    expect(JSON.parse(out).pictures).toMatchObject([{ code: 'DAILY_LIMIT_REACHED' }])
    expect(await stage.here('retry', 'new.png')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^albumd: Nothing failed .*"albumd retry" without a path asks the host at once\n$/,
      ),
    })
    const daemon = await daemonHere(stage)
    await daemon.told('uploads_stopped')
    const beside = await stage.here('put', 'new.png')
    expect(beside.err).toMatch(/new\.png: waits for quota.*; next try at \d{4}-.*at once with "albumd retry"/)
    expect(beside.err).not.toContain('albumd does not run')
    await stage.restartHost({ dailyQuota: 2 })
    expect(await stage.here('retry')).toMatchObject({ code: 0 })
    expect(await stage.here('put', 'new.png')).toMatchObject({ code: 0, err: '' })
    expect(await daemon.stop()).toBe(0)
  })

  it('says when it will be known whether a picture arrived, and then sends it only if it is not there', async () => {
    const stage = await setFaultStage()
    stage.write('cut.png', png(3, 2).bytes)
    stage.proxy.fail('send', 1, 'late')
    const cut = await stage.here('put', 'cut.png')
    expect(cut).toMatchObject({ code: 3, out: '' })
    expect(cut.err).toMatch(
      /cut\.png: Not known whether it arrived .*; .* albumd looks for it on the host until \d{4}-.*: albumd retry --resend \/\S+\/cut\.png/,
    )
    await stage.proxy.quiet()
    expect(await stage.here('put', 'cut.png')).toMatchObject({ code: 0, err: '' })
    expect(await stage.paths()).toEqual(['Photos/cut.png'])
  })

  it('ends with 5 for a key that the host refuses, and says what to do, and nothing of later', async () => {
    const stage = await setStage({ pictures: { 'old.png': png(2, 2).bytes } })
    writeFileSync(join(stage.home, 'api-key'), 'wrong-key-abcdef')
    stage.write('new.png', png(3, 2).bytes)
    const alone = await stage.here('put', 'new.png')
    expect(alone).toMatchObject({ code: 5, out: '' })
    expect(alone.err).toMatch(/new\.png: .*\(INVALID_API_KEY\); check host\.api_key_file/)
    const { out } = await stage.here('put', 'new.png', '--json')
    expect(JSON.parse(out)).toMatchObject({ pictures: [{ cdn_url: null, code: 'INVALID_API_KEY' }] })
    const beside = await daemonHere(stage)
    await beside.told('uploads_stopped')
    const { code, err } = await stage.here('put', 'new.png')
    expect(code).toBe(5)
    expect(err).toMatch(/new\.png: .*\(INVALID_API_KEY\).*; check /)
    expect(await beside.stop()).toBe(0)
  })

  it('sends a picture whose mirror is there, though the folder of another mirror is missing', async () => {
    const stage = await setStage()
    mkdirSync(join(stage.home, 'drafts'))
    const mirrors = ['pictures', 'drafts'].map(folder => ({ folder, album: folder }))
    stage.configure({ mirrors })
    stage.write('a.png', png(3, 2).bytes)
    writeFileSync(join(stage.home, 'drafts/d.png'), png(4, 2).bytes)
    expect(await stage.here('put', 'pictures/a.png', 'drafts/d.png')).toMatchObject({ code: 0 })
    rmSync(join(stage.home, 'drafts'), { recursive: true })
    stage.write('b.png', png(5, 2).bytes)
    for (const args of [
      ['put', 'pictures/a.png', 'pictures/b.png'],
      ['sync', 'pictures'],
    ])
      expect(await stage.here(...args)).toMatchObject({ code: 0, err: '' })
    for (const args of [['put', 'drafts/d.png'], ['put', 'pictures/a.png', 'drafts/e.png'], ['sync']])
      expect(await stage.here(...args)).toMatchObject({
        code: 2,
        err: expect.stringContaining('drafts is not there'),
      })
    expect(await stage.paths()).toEqual(['drafts/d.png', 'pictures/a.png', 'pictures/b.png'])
  })

  it('says that a picture can not be read, alone and beside a daemon, and has it put again once it can', async () => {
    const stage = await setStage()
    chownBelow(stage.home, NOBODY)
    const unreadable = (path: string) => {
      stage.write(path, png(3, 2).bytes)
      // Not even its owner may read the file.
      chmodSync(join(stage.pictures, path), 0o200)
    }
    const put = (path: string) => asNobody(() => stage.here('put', '--json', path))
    const said = (words: string) => ({ code: 'UNREADABLE', reason: expect.stringMatching(words) })
    unreadable('alone.png')
    const alone = await put('alone.png')
    expect(JSON.parse(alone.out).pictures).toMatchObject([said(/File can't be read \(EACCES\)\./.source)])
    const daemon = await asNobody(() => startDaemon(stage))
    await daemon.told('scan_finished')
    for (const path of ['1.png', '2.png', '3.png', '4.png']) {
      unreadable(path)
      expect(JSON.parse((await put(path)).out).pictures).toMatchObject([said("^File can't be read")])
    }
    // What a command names is told of alone, though the running albumd reads the others too.
    stage.write('good.png', png(4, 2).bytes)
    const sync = await asNobody(() => stage.json('sync', 'good.png'))
    expect(sync).toMatchObject({ exit_code: 0, failed: 0 })
    expect(await daemon.stop()).toBe(0)
    const attempts = async () =>
      (await stage.status()).failures.map(({ attempts }: { attempts: number }) => attempts)
    const before = await attempts()
    for (const path of ['more.png', 'most.png']) {
      stage.write(path, png(path.length, 3).bytes)
      expect(JSON.parse((await put(path)).out).pictures).toMatchObject([{ code: null }])
      expect(await asNobody(() => stage.json('sync', path))).toMatchObject({ exit_code: 0, failed: 0 })
    }
    expect(await attempts()).toEqual(before)
    expect((await stage.json('why', '1.png')).state).toBe('failed')
  })

  it('names what could not be sent, and refuses what is no picture of a mirror', async () => {
    const stage = await setStage()
    stage.write('good.png', png(3, 2).bytes)
    stage.write('bad.png', Buffer.from('no picture at all'))
    stage.write('note.txt', 'x')
    const { code, out } = await stage.here('put', 'good.png', 'bad.png', '--json')
    expect(code).toBe(3)
    const [good, bad] = ['good.png', 'bad.png'].map(name => join(stage.pictures, name))
    expect(JSON.parse(out)).toMatchObject({
      schema: 1,
      pictures: [
        { path: good, cdn_url: expect.stringContaining('http'), code: null, reason: null },
        { path: bad, cdn_url: null, code: 'NOT_A_PICTURE', reason: expect.not.stringContaining(';') },
      ],
    })
    const outside = join(stage.home, 'outside.png')
    writeFileSync(outside, png(3, 2).bytes)
    for (const path of [outside, 'note.txt', 'nowhere.png'])
      expect(await stage.here('put', path)).toMatchObject({ code: 2, out: '' })
  })
})
