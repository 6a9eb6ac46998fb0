import { describe, expect, it } from 'vitest'
import type { FileLook, FolderLook } from '../../src/local/look.ts'
import { type PlanPolicy, planFolder, planMissingFolder } from '../../src/sync/plan.ts'
import type { FileRow, FileState } from '../../src/synced/tables/files.ts'
import { because, inWords, said } from '../../src/words/reasons.ts'

const HASH = Buffer.alloc(32, 1)
const mirror: PlanPolicy = { deletions: 'propagate', prunes: () => false }
const backup: PlanPolicy = { ...mirror, deletions: 'keep' }
const look: FileLook = { name: 'a.png', size: 10, mtime: 20, ctime: 30, ino: 40 }

function row(changes: Partial<FileRow> = {}): FileRow {
  return { ...look, folder: 1, state: 'synced', since: null, image: 7, hash: HASH, flat: 0, ...changes }
}

function seen(parts: Partial<FolderLook>): Pick<FolderLook, 'files' | 'aside' | 'ignored' | 'problems'> {
  return { files: [], aside: [], ignored: [], problems: [], ...parts }
}

describe('planFolder', () => {
  it('says nothing of a file that is as it was', () => {
    expect(planFolder(1, [row()], seen({ files: [look] }), mirror)).toEqual([])
  })

  it('asks for the hash of a new file', () => {
    const [change] = planFolder(1, [], seen({ files: [look] }), mirror)
    expect(change).toMatchObject({
      kind: 'pending',
      reason: because('new'),
      file: { state: 'pending', image: null, since: null },
    })
  })

  it.each([
    ['size', { size: 11 }, because('size_changed', { before: 10, now: 11 })],
    ['mtime', { mtime: 21 }, because('time_changed')],
    ['inode', { ino: 41 }, because('file_replaced')],
    ['ctime, as exiftool -P leaves it', { ctime: 31 }, because('touched')],
  ])('asks for the hash of a file with another %s, and keeps its image', (_, changed, reason) => {
    const [change] = planFolder(1, [row()], seen({ files: [{ ...look, ...changed }] }), mirror)
    expect(change).toMatchObject({ kind: 'pending', reason, file: { image: 7, hash: null, ...changed } })
  })

  it('calls a file new as long as no version of it was read, also after it grew', () => {
    const unread = row({ state: 'pending', image: null, hash: null })
    const [grown] = planFolder(1, [unread], seen({ files: [{ ...look, size: 11 }] }), mirror)
    expect(grown).toMatchObject({
      kind: 'pending',
      was: 'pending',
      reason: because('new'),
      file: { size: 11 },
    })
    expect(planFolder(1, [unread], seen({ files: [look] }), mirror)).toEqual([])
  })

  it('gives up the image of a file that is gone', () => {
    const [change] = planFolder(1, [row()], seen({}), mirror)
    expect(change).toMatchObject({ kind: 'gone', file: { state: 'gone', image: 7 } })
  })

  it('keeps the image of a file that is gone from a backup', () => {
    const [change] = planFolder(1, [row()], seen({}), backup)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'kept', image: 7 } })
  })

  it('keeps the image of a file that is there and left out', () => {
    const [change] = planFolder(1, [row()], seen({ aside: ['a.png'] }), mirror)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'hidden', image: 7 } })
    expect(inWords(change!.reason)).toContain('there, but empty or a link')
    const [hidden] = planFolder(1, [row()], seen({ aside: ['a.png'], ignored: ['a.png'] }), mirror)
    expect(hidden!.reason).toEqual(because('hidden_by_rule'))
  })

  it('does not know whether a file is gone beside a name that is not UTF-8, and tells that from one left out', () => {
    const problems = [{ name: 'b\\xff.png', code: 'NAME_NOT_UTF8' as const, message: said('') }]
    expect(planFolder(1, [row()], seen({ problems }), mirror)).toMatchObject([
      { kind: 'aside', reason: because('perhaps_renamed'), file: { state: 'hidden', image: 7 } },
    ])
    const [left] = planFolder(1, [row()], seen({ problems, aside: ['a.png'] }), mirror)
    expect(left!.reason).toEqual(because('left_out'))
  })

  it('says nothing of a file that could not be looked at', () => {
    const problems = [{ name: 'a.png', code: 'UNREADABLE' as const, message: said('EIO') }]
    expect(planFolder(1, [row()], seen({ problems }), mirror)).toEqual([])
  })

  it('leaves the version alone whose upload may have arrived, and does not vouch for its bytes', () => {
    const uncertain = row({ state: 'uncertain' })
    const [touched] = planFolder(1, [uncertain], seen({ files: [{ ...look, ctime: 31 }] }), mirror)
    expect(touched).toMatchObject({ file: { state: 'uncertain', hash: null } })
  })

  it('sends a new version of a file whose old one may have arrived', () => {
    const [change] = planFolder(
      1,
      [row({ state: 'uncertain' })],
      seen({ files: [{ ...look, size: 11 }] }),
      mirror,
    )
    expect(change).toMatchObject({ file: { state: 'pending', hash: null } })
  })

  it('keeps what was to be given up where the mirror has become a backup', () => {
    const [change] = planFolder(1, [row({ state: 'gone' })], seen({}), backup)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'kept' } })
  })

  it('neither replaces nor vouches for an image that is kept for good, where its picture is there again', () => {
    for (const policy of [mirror, backup]) {
      const [change] = planFolder(1, [row({ state: 'kept' })], seen({ files: [look] }), policy)
      expect(change).toMatchObject({ kind: 'pending', reason: because('there_again'), file: { image: null } })
    }
  })

  it.each<FileState>(['gone', 'hidden'])(
    'compares the bytes of a file that was %s and is there again',
    state => {
      const [change] = planFolder(1, [row({ state })], seen({ files: [look] }), mirror)
      expect(change).toMatchObject({ kind: 'pending', reason: because('there_again'), file: { image: 7 } })
    },
  )
})

describe('a file that an ignore rule hides', () => {
  const hidden = seen({ aside: ['a.png'], ignored: ['a.png'] })
  const prunes: PlanPolicy = { deletions: 'propagate', prunes: () => true }

  it('keeps its image, unless a person asked to give such images up', () => {
    expect(planFolder(1, [row()], hidden, mirror)).toMatchObject([
      { kind: 'aside', file: { state: 'hidden', image: 7 } },
    ])
    expect(planFolder(1, [row({ state: 'hidden' })], hidden, prunes)).toMatchObject([
      { kind: 'pruned', file: { state: 'gone', image: 7 } },
    ])
    expect(planFolder(1, [row({ state: 'gone' })], hidden, prunes)).toEqual([])
  })

  it('keeps its image in a backup, and where a person said that it stays for good', () => {
    expect(planFolder(1, [row()], hidden, { ...prunes, deletions: 'keep' })).toMatchObject([
      { kind: 'aside', file: { state: 'hidden' } },
    ])
    expect(planFolder(1, [row({ state: 'kept' })], hidden, prunes)).toEqual([])
  })

  it('is told from a link and an empty file, whose images stay', () => {
    const [change] = planFolder(1, [row()], seen({ aside: ['a.png'] }), prunes)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'hidden' } })
  })
})

describe('planMissingFolder', () => {
  it('gives up what was in it, unless a rule hides it', () => {
    expect(planMissingFolder([row()], 'gone', mirror)).toMatchObject([{ kind: 'gone' }])
    expect(planMissingFolder([row()], 'left_out', mirror)).toMatchObject([{ kind: 'aside' }])
  })
})
