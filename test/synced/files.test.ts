import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openDatabase } from '../../src/synced/database.ts'
import type { FileRow, FileState } from '../../src/synced/tables/files.ts'
import { said } from '../../src/words/reasons.ts'
import { workshopWith } from '../sync/workshop.ts'
import { memoryDb, openTx } from './open-tx.ts'
import { FILE } from './rows.ts'

function open() {
  const db = memoryDb()
  const synced = openTx(db)
  const mirror = synced.mirrors.add('/pictures', 'Photos').id
  const folder = synced.folders.add(mirror, 'a').id
  const put = (name: string, mtime: number, state: FileState = 'pending') =>
    synced.files.put({ ...FILE, folder, name, mtime, state, since: 5 })
  return { synced, mirror, folder, put }
}

const FAILURE = {
  source: 'look',
  code: 'UNREADABLE',
  message: said('m'),
  refusals: 0,
  next_attempt_at: null,
} as const

const names = (rows: Iterable<FileRow>) => [...rows].map(row => row.name)

describe('files', () => {
  it('are handed out newest or oldest first, each once, whatever becomes of them meanwhile', () => {
    const { synced, mirror, folder, put } = open()
    for (let at = 0; at < 600; at++) put(`${at}`, Math.floor(at / 3))
    put('done', 999, 'synced')
    const order = Array.from({ length: 600 }, (_, at) => `${at}`)
    const oldest: string[] = []
    for (const { name } of synced.files.pending('oldest', [mirror])) {
      oldest.push(name)
      if (Number(name) % 2)
        synced.files.put({ ...synced.files.at({ folder, name })!, state: 'failed', since: 1 })
    }
    expect(oldest.toSorted()).toEqual(order.toSorted())
    expect(oldest.map(name => Math.floor(Number(name) / 3))).toEqual(
      order.map(name => Math.floor(Number(name) / 3)),
    )
    expect(names(synced.files.pending('newest', [mirror]))).toHaveLength(300)
    expect(names(synced.files.pending('newest', []))).toEqual([])
  })

  it('are found by the index of open files, not by a walk through all', () => {
    const db = memoryDb()
    const prepare = vi.spyOn(db, 'prepare')
    const { files } = openTx(db)
    for (const order of ['newest', 'oldest'] as const) names(files.pending(order, [1]))
    const inOrder = prepare.mock.calls
      .map(([sql]) => sql)
      .filter(sql => /'pending'.* ORDER BY mtime/s.test(sql))
    expect(inOrder).toHaveLength(2)
    for (const sql of inOrder) {
      const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all('[1]', 9, 9, '')
      expect(plan[0]!.detail).toContain('files_open')
      expect(plan.map(({ detail }) => detail).join()).not.toContain('TEMP B-TREE')
    }
  })
})

it('a file may have the bytes of an image when it has their size and no other hash', () => {
  const { synced, folder } = open()
  const [hash, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const isLike = (of: Pick<FileRow, 'hash' | 'size' | 'state'>) => {
    synced.files.put({ ...FILE, ...of, folder, name: 'a' })
    return synced.files.openLike({ id: 1, name: 'a', hash, size: 5 }) !== undefined
  }
  expect(isLike({ hash: null, size: 5, state: 'pending' })).toBe(true)
  expect(isLike({ hash, size: 5, state: 'failed' })).toBe(true)
  expect(isLike({ hash: other, size: 5, state: 'pending' })).toBe(false)
  expect(isLike({ hash: null, size: 6, state: 'pending' })).toBe(false)
  expect(isLike({ hash, size: 5, state: 'synced' })).toBe(false)
})

describe('the summary', () => {
  it('counts what is there, what is open and since when', () => {
    const { synced, mirror, folder, put } = open()
    put('one', 1, 'synced')
    put('two', 2)
    put('three', 3, 'uncertain')
    put('four', 4, 'gone')
    const leftOut = { format: 1, ignored: 2, hidden: 3, empty: 4, links: 5 }
    const files = ['one', 'two', 'three'].map(name => ({ name, size: 1, mtime: 1, ctime: 1, ino: 1 }))
    const identity = { dev: 1, ino: 1, birthtime: 1 }
    synced.folders.looked(folder, null, null, { files, leftOut, mount: false, identity })
    synced.failures.put({ ...FAILURE, folder, name: 'x' })
    expect(synced.summaries.mirror(mirror)).toEqual({
      files: 3,
      gone_on_host: 0,
      flat: 0,
      kept: 0,
      synced: 1,
      linked: 0,
      uncertain: 1,
      pending_uploads: 1,
      pending_since: 5,
      pending_deletions: 0,
      approved_deletions: 0,
      held_deletions: 0,
      failed: 1,
      folders_in_doubt: 0,
      left_out: { format: 1, ignored: 2, hidden: 3, empty: 4, links: 5 },
      left_out_with_image: 0,
      oldest_unsynced: 5,
    })
    expect(synced.summaries.failures(9)).toMatchObject([{ path: 'a/x', attempts: 1 }])
  })
})

describe('folders', () => {
  it('are forgotten only when they are gone and their files settled', () => {
    const { synced, mirror, folder, put } = open()
    put('one', 1, 'gone')
    synced.folders.gone(folder)
    synced.folders.removeIfEmpty(folder)
    expect(synced.folders.byId(folder)).toBeDefined()
    expect(synced.folders.ofMirror(mirror)).toEqual([])
    synced.files.remove({ folder, name: 'one' })
    synced.folders.removeIfEmpty(folder)
    expect(synced.folders.byId(folder)).toBeUndefined()
  })
})

it('a block has lasted since the host first said what it says now', () => {
  const synced = openTx(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  const answer = (code: string, at: number) => {
    synced.account.block({ endpoint: 'list', code, message: said('no'), since: at, said_at: at })
    return synced.account.blocks()
  }
  expect(answer('HOST_UNREACHABLE', 1)).toMatchObject([{ since: 1 }])
  expect(answer('HOST_UNREACHABLE', 2)).toMatchObject([{ since: 1, said_at: 2 }])
  expect(answer('PLAN_NOT_SUPPORTED', 3)).toMatchObject([
    { code: 'PLAN_NOT_SUPPORTED', since: 3, said_at: 3 },
  ])
})

describe('failures', () => {
  it('of a look and of an upload stand beside each other', async () => {
    const workshop = await workshopWith({ 'broken.png': 'no picture' })
    const folder = workshop.synced.folders.at(1, '')!.id
    workshop.synced.commitNow(tx => tx.failures.put({ ...FAILURE, folder, name: 'broken.png' }))
    workshop.synced.commitNow(tx => tx.failures.clearLook(folder))
    expect(workshop.synced.summaries.failures(9)).toMatchObject([
      { path: 'broken.png', code: 'NOT_A_PICTURE' },
    ])
  })
})

it('an image that no file uses may have the bytes of a picture, and that of a synced file may not', () => {
  const { synced, folder, put } = open()
  const image = (id: string, size: number) =>
    synced.images.put({
      remote_id: id,
      cdn_url: null,
      album: null,
      name: id,
      hash: Buffer.from(id),
      size,
      mime: 'image/png',
      width: 1,
      height: 1,
      recorded_at: 1,
      proof: 'uploaded',
    })
  put('a', 1, 'synced')
  synced.files.put({ ...synced.files.at({ folder, name: 'a' })!, image: image('used', 7).id })
  image('unused', 8)
  expect(synced.images.sizesToCompare()).toEqual([8])
})
