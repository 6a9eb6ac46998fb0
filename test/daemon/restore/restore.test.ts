import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RestoreEvent, RestoreReport } from '../../../src/daemon/restore/restore-event.ts'
import { type RestoreRequest, restoreMirrors } from '../../../src/daemon/restore/restore-mirrors.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { deadOrigin } from '../../remote/serve.ts'
import { MTIME, type Recorded, recordPictures, treeOf } from '../recorded-pictures.ts'

const NEVER = { stop: new AbortController().signal, cut: new AbortController().signal }

interface Told {
  report: RestoreReport
  missing: Record<string, string>
  back: string
}

async function restore(
  { home, config }: Recorded,
  request: Partial<RestoreRequest> = {},
  interruption = NEVER,
  tell: (event: RestoreEvent) => void = () => {},
): Promise<Told> {
  const missing: Record<string, string> = {}
  const back = request.folder ?? join(home, 'back')
  const report = await restoreMirrors(
    config,
    {
      folder: back,
      mirrors: config.mirrors.map(({ folder }) => folder),
      deleted: false,
      ca: null,
      ...request,
    },
    event => {
      if (event.event === 'picture_missing') missing[event.path] = event.code
      tell(event)
    },
    interruption,
  )
  return { report, missing, back }
}

describe('a restore', () => {
  it('brings back folders, equal names and odd ones with their times, and leaves no trace of its own', async () => {
    const odd = 'Früh "am" \n Morgen ☀.png'
    const recorded = await recordPictures([
      { path: 'a.png', bytes: 'top' },
      { path: 'x/a.png', bytes: 'x' },
      { path: 'x/y/z/a.png', bytes: 'deep', mtime: 1 },
      { path: `x y/${odd}`, bytes: 'odd', mtime: -86_400_000_001 },
      { path: 'empty.png', bytes: '' },
    ])
    const { report, back } = await restore(recorded)
    expect(report).toMatchObject({ restored: 5, there: 0, missing: 0, stopped: null, interrupted: false })
    expect(treeOf(back)).toEqual({
      'a.png': ['top', MTIME],
      'x/a.png': ['x', MTIME],
      'x/y/z/a.png': ['deep', 1],
      [`x y/${odd}`]: ['odd', -86_400_000_001],
      'empty.png': ['', MTIME],
    })
    await expect(restore(recorded)).rejects.toThrow('it is not empty')
  })

  it('takes the version that the host has, and says so; what was deleted only where it is asked for', async () => {
    const recorded = await recordPictures([
      { path: 'changed.png', bytes: 'before', state: 'pending', changed: true },
      { path: 'new.png', bytes: 'new', state: 'pending', image: null },
      { path: 'gone.png', bytes: 'gone', state: 'gone' },
      { path: 'kept.png', bytes: 'kept', state: 'kept' },
      { path: 'hidden.png', bytes: 'hidden', state: 'hidden' },
      { path: 'never-sent.png', bytes: 'x', state: 'hidden', image: null },
    ])
    const first = await restore(recorded)
    expect(first.report).toMatchObject({ restored: 3, older: 1, gone: 1, missing: 1 })
    expect(first.missing).toEqual({ 'new.png': 'NOT_ON_HOST' })
    expect(treeOf(first.back)).toMatchObject({
      'changed.png': ['before', 1_700_000_000_000_000],
      'kept.png': ['kept', MTIME],
      'hidden.png': ['hidden', MTIME],
    })
    expect(Object.keys(treeOf(first.back))).not.toContain('gone.png')
    const second = await restore(recorded, { deleted: true })
    expect(second.report).toMatchObject({ restored: 1, there: 3, gone: 0 })
    expect(treeOf(second.back)['gone.png']).toEqual(['gone', MTIME])
  })

  it('proves linked ones by their bytes, and finds addresses as those of uploaded ones are', async () => {
    const linked = { proof: 'none', cdnUrl: null } as const
    const recorded = await recordPictures([
      { path: 'alone.png', bytes: 'alone', state: 'linked', image: linked },
    ])
    const alone = await restore(recorded)
    expect(alone.missing).toEqual({ 'alone.png': 'NO_ADDRESS' })

    const other = await recordPictures([
      { path: 'linked.png', bytes: 'linked', state: 'linked', image: { proof: 'none' } },
      {
        path: 'another.png',
        bytes: 'recorded',
        state: 'linked',
        image: { proof: 'none' },
        answer: response => void response.end('anothers'),
      },
    ])
    const { report, missing, back } = await restore(other)
    expect(report).toMatchObject({ restored: 1, proved: 1, missing: 1 })
    expect(missing).toEqual({ 'another.png': 'OTHER_BYTES' })
    expect(treeOf(back)).toMatchObject({ 'linked.png': ['linked', MTIME] })
    expect(existsSync(join(back, 'another.png'))).toBe(false)
  })

  it('puts nothing in its place that is not what is recorded, and says why of each', async () => {
    const outside = await deadOrigin()
    let flaky = 0
    const recorded = await recordPictures([
      { path: 'good.png', bytes: 'good' },
      { path: 'short.png', bytes: 'recorded', answer: response => void response.end('record') },
      { path: 'other.png', bytes: 'recorded', answer: response => void response.end('RECORDED') },
      {
        path: 'endless.png',
        bytes: 'recorded',
        answer: response => void response.end(Buffer.alloc(3 * 2 ** 20)),
      },
      {
        path: '404.png',
        bytes: 'x',
        answer: response => void response.writeHead(404).end('a long page of it'),
      },
      {
        path: 'moved.png',
        bytes: 'x',
        answer: response => void response.writeHead(302, { location: `${outside}/x` }).end(),
      },
      { path: 'forbidden.png', bytes: 'x', answer: response => void response.writeHead(403).end() },
      { path: 'plain.png', bytes: 'x', image: { cdnUrl: 'http://images.example.com/i/1' } },
      {
        path: 'flaky.png',
        bytes: 'there at last',
        answer: (response, bytes) => {
          if (flaky++ === 0) response.writeHead(503).end()
          else if (flaky === 2) response.writeHead(200, { 'content-length': bytes.length }).write('the')
          else response.end(bytes)
          if (flaky === 2) setTimeout(() => response.destroy(), 50)
        },
      },
    ])
    const { report, missing, back } = await restore(recorded)
    expect(missing).toEqual({
      'short.png': 'OTHER_BYTES',
      'other.png': 'OTHER_BYTES',
      'endless.png': 'OTHER_BYTES',
      '404.png': 'NOT_FOUND',
      'moved.png': 'HOST_REDIRECT',
      'forbidden.png': 'HOST_ANSWER',
      'plain.png': 'HOST_ADDRESS',
    })
    expect(report).toMatchObject({ restored: 2, missing: 7 })
    expect(Object.keys(treeOf(back)).sort()).toEqual([
      '.albumd-restore/restore.json',
      'flaky.png',
      'good.png',
    ])

    // The host has mended some: what is there is not fetched again.
    recorded.asked.length = 0
    for (const path of ['short.png', 'other.png', 'endless.png', '404.png']) recorded.answers.delete(path)
    const again = await restore(recorded)
    expect(again.report).toMatchObject({ restored: 4, there: 2, missing: 3 })
    expect(recorded.asked).not.toContain('good.png')
    expect(treeOf(back)['other.png']).toEqual(['recorded', MTIME])
  })

  it('asks caches to look again, and never sends a key', async () => {
    const headers: (string | undefined)[] = []
    const recorded = await recordPictures([
      {
        path: 'cached.png',
        bytes: 'fresh',
        answer: (response, bytes, request) => {
          expect(request.headers['x-api-key']).toBeUndefined()
          headers.push(request.headers['cache-control'])
          response.end(headers.length === 1 ? 'stale' : bytes)
        },
      },
    ])
    expect((await restore(recorded)).report).toMatchObject({ restored: 1, missing: 0 })
    expect(headers).toEqual([undefined, 'no-cache'])
  })

  it('writes nothing outside of its folder, whatever the records say', async () => {
    const recorded = await recordPictures(
      [
        '../out.png',
        'a/../../out.png',
        '/etc/out.png',
        'a//b.png',
        './c.png',
        'nul\0.png',
        '.albumd-restore/x.png',
        '..',
      ].map(path => ({ path, bytes: path })),
    )
    const { missing, back } = await restore(recorded)
    expect(new Set(Object.values(missing))).toEqual(new Set(['UNSAFE_NAME']))
    expect(Object.keys(missing)).toHaveLength(8)
    expect(recorded.asked).toEqual([])
    expect(Object.keys(treeOf(back))).toEqual(['.albumd-restore/restore.json'])
    expect(readdirSync(recorded.home).sort()).toEqual(['albumd.yaml', 'back', 'pictures', 'state'])
  })

  it('follows no link, and leaves what is in the way', async () => {
    const recorded = await recordPictures([
      { path: 'link/a.png', bytes: 'a' },
      { path: 'b.png', bytes: 'b' },
      { path: 'c.png', bytes: 'c' },
      { path: 'd.png', bytes: 'd' },
      { path: 'slow.png', bytes: 'slow', answer: response => void response.writeHead(404).end() },
    ])
    await restore(recorded)
    const back = join(recorded.home, 'back')
    const elsewhere = join(recorded.home, 'elsewhere')
    mkdirSync(elsewhere)
    rmSync(join(back, 'link'), { recursive: true })
    symlinkSync(elsewhere, join(back, 'link'))
    rmSync(join(back, 'b.png'))
    symlinkSync(join(elsewhere, 'b.png'), join(back, 'b.png'))
    writeFileSync(join(back, 'c.png'), 'X')
    utimesSync(join(back, 'd.png'), 5, 5)
    const { missing, report } = await restore(recorded)
    expect(missing).toMatchObject({
      'link/a.png': 'IN_THE_WAY',
      'b.png': 'IN_THE_WAY',
      'c.png': 'IN_THE_WAY',
      'slow.png': 'NOT_FOUND',
    })
    expect(report).toMatchObject({ there: 1, restored: 0 })
    expect(readdirSync(elsewhere)).toEqual([])
    expect(treeOf(back)).toMatchObject({ 'c.png': ['X', expect.any(Number)], 'd.png': ['d', MTIME] })
  })

  it('goes on after it was interrupted', async () => {
    const stop = new AbortController()
    const pictures = Array.from({ length: 60 }, (_, n) => ({
      path: `${n % 7}/${n}.png`,
      bytes: `bytes of ${n}`,
    }))
    const recorded = await recordPictures(pictures)
    let done = 0
    const first = await restore(recorded, {}, { stop: stop.signal, cut: stop.signal }, ({ event }) => {
      if (event === 'picture_restored' && ++done === 10) stop.abort()
    })
    expect(first.report.interrupted).toBe(true)
    expect(first.report.restored).toBeLessThan(60)
    const { report, back } = await restore(recorded)
    expect(report).toMatchObject({ there: first.report.restored, restored: 60 - first.report.restored })
    expect(treeOf(back)).toEqual(
      Object.fromEntries(pictures.map(({ path, bytes }) => [path, [bytes, MTIME]])),
    )
  })

  it('stops where the host is away, and takes an image that has replaced the recorded one meanwhile', async () => {
    const gone = await deadOrigin()
    const away = Array.from({ length: 40 }, (_, n) => ({
      path: `${n}.png`,
      bytes: 'x',
      image: { cdnUrl: `${gone}/${n}` },
    }))
    const recorded = await recordPictures(away)
    const { report } = await restore(recorded)
    expect(report.stopped).toMatch(/refuses connections.*run the same command again/)
    expect(report.missing).toBeLessThan(40)

    const other = await recordPictures([
      { path: 'a.png', bytes: 'first' },
      { path: 'now/b.png', bytes: 'second' },
    ])
    other.answers.set('a.png', response => {
      const db = openDatabase(join(other.config.state_dir, 'albumd.db'))
      const { files, mirrors, folders } = openSynced(db)
      const { id } = mirrors.of(other.config.mirrors[0]!.folder)!
      const now = files.at({ folder: folders.at(id, 'now')!.id, name: 'b.png' })!
      const before = files.at({ folder: folders.at(id, '')!.id, name: 'a.png' })!
      files.put({ ...before, image: now.image, hash: now.hash })
      db.close()
      response.writeHead(404).end()
    })
    const { back } = await restore(other)
    expect(treeOf(back)['a.png']).toEqual(['second', MTIME])
  })

  it('is refused where it would do harm, or would be mixed up', async () => {
    const recorded = await recordPictures(
      [
        { path: 'a.png', bytes: 'a' },
        { path: 'b.png', bytes: 'b', mirror: 1 },
      ],
      { mirrors: ['one/photos', 'two/Photos'] },
    )
    const { home, config } = recorded
    const to = (folder: string, more: Partial<RestoreRequest> = {}) =>
      restore(recorded, { folder: join(home, folder), ...more })
    await expect(to('one/photos')).rejects.toThrow('move it when it is whole')
    await expect(to('one/photos/below')).rejects.toThrow('move it when it is whole')
    await expect(to('one')).rejects.toThrow('move it when it is whole')
    await expect(to('state/x')).rejects.toThrow('state_dir')
    await expect(to('albumd.yaml')).rejects.toThrow('is no folder')
    symlinkSync(join(home, 'one/photos'), join(home, 'link'))
    await expect(to('link')).rejects.toThrow('move it when it is whole')
    // Both at once: two folders of one name take their whole paths.
    const both = await to('both')
    expect(Object.keys(treeOf(both.back)).sort()).toEqual(
      [`${home}/one/photos/a.png`, `${home}/two/Photos/b.png`].map(path => path.slice(1)).sort(),
    )
    const alone = await to('alone', { mirrors: [config.mirrors[1]!.folder] })
    expect(treeOf(alone.back)).toEqual({ 'b.png': ['b', MTIME] })

    recorded.answers.set('b.png', response => void response.writeHead(404).end())
    await to('part', { mirrors: [config.mirrors[1]!.folder] })
    await expect(to('part')).rejects.toThrow('a restore of other mirrors was begun here')
    const empty = await recordPictures([])
    await expect(restore(empty)).rejects.toThrow('nothing is recorded of')
    expect(existsSync(join(empty.home, 'back'))).toBe(false)
  })

  it.runIf(process.platform === 'linux')('has its folder to itself', async () => {
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    recorded.answers.set('a.png', (response, bytes) => {
      asked.resolve()
      void go.promise.then(() => response.end(bytes))
    })
    const first = restore(recorded)
    await asked.promise
    await expect(restore(recorded)).rejects.toMatchObject({ code: 'LOCKED' })
    go.resolve()
    expect((await first).report).toMatchObject({ restored: 1 })
  })
})
