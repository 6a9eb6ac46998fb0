import { describe, expect, it } from 'vitest'
import type { FileLook, FolderLook } from '../../src/local/look.ts'
import { planFolder, planMissingFolder, whyImageStays } from '../../src/sync/plan.ts'
import type { FileRow, FileState } from '../../src/synced/files.ts'

const NOW = 1_000_000
const HASH = Buffer.alloc(32, 1)
const look: FileLook = { name: 'a.png', size: 10, mtime: 20, ctime: 30, ino: 40 }

function row(changes: Partial<FileRow> = {}): FileRow {
  return { ...look, folder: 1, state: 'synced', since: null, image: 7, hash: HASH, ...changes }
}

function seen(parts: Partial<FolderLook>): Pick<FolderLook, 'files' | 'aside' | 'problems'> {
  return { files: [], aside: [], problems: [], ...parts }
}

describe('planFolder', () => {
  it('says nothing of a file that is as it was', () => {
    expect(planFolder(1, [row()], seen({ files: [look] }), 'propagate', NOW)).toEqual([])
  })

  it('asks for the hash of a new file', () => {
    const [change] = planFolder(1, [], seen({ files: [look] }), 'propagate', NOW)
    expect(change).toMatchObject({
      kind: 'pending',
      reason: 'new',
      file: { state: 'pending', image: null, since: NOW },
    })
  })

  it.each([
    ['size', { size: 11 }, 'changed: 10 bytes became 11'],
    ['mtime', { mtime: 21 }, 'changed: another modification time'],
    ['inode', { ino: 41 }, 'replaced by another file'],
    ['ctime, as exiftool -P leaves it', { ctime: 31 }, 'touched: its bytes are compared'],
  ])('asks for the hash of a file with another %s, and keeps its image', (_, changed, reason) => {
    const [change] = planFolder(1, [row()], seen({ files: [{ ...look, ...changed }] }), 'propagate', NOW)
    expect(change).toMatchObject({ kind: 'pending', reason, file: { image: 7, hash: null, ...changed } })
  })

  it('gives up the image of a file that is gone', () => {
    const [change] = planFolder(1, [row()], seen({}), 'propagate', NOW)
    expect(change).toMatchObject({ kind: 'gone', file: { state: 'gone', image: 7 } })
  })

  it('keeps the image of a file that is gone from a backup', () => {
    const [change] = planFolder(1, [row()], seen({}), 'keep', NOW)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'kept', image: 7 } })
  })

  it('keeps the image of a file that is there and left out', () => {
    const [change] = planFolder(1, [row()], seen({ aside: ['a.png'] }), 'propagate', NOW)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'hidden', image: 7 } })
  })

  it('says nothing of a file that could not be looked at', () => {
    const problems = [{ name: 'a.png', code: 'UNREADABLE' as const, message: 'EIO' }]
    expect(planFolder(1, [row()], seen({ problems }), 'propagate', NOW)).toEqual([])
  })

  it('leaves the version alone whose upload may have arrived', () => {
    const uncertain = row({ state: 'uncertain' })
    const [touched] = planFolder(1, [uncertain], seen({ files: [{ ...look, ctime: 31 }] }), 'propagate', NOW)
    expect(touched).toMatchObject({ file: { state: 'uncertain', hash: HASH } })
  })

  it('sends a new version of a file whose old one may have arrived', () => {
    const [change] = planFolder(
      1,
      [row({ state: 'uncertain' })],
      seen({ files: [{ ...look, size: 11 }] }),
      'propagate',
      NOW,
    )
    expect(change).toMatchObject({ file: { state: 'pending', hash: null } })
  })

  it('keeps what was to be given up where the mirror has become a backup', () => {
    const [change] = planFolder(1, [row({ state: 'gone' })], seen({}), 'keep', NOW)
    expect(change).toMatchObject({ kind: 'aside', file: { state: 'kept' } })
  })

  it.each<FileState>(['gone', 'kept', 'hidden'])(
    'compares the bytes of a file that was %s and is there again',
    state => {
      const [change] = planFolder(1, [row({ state })], seen({ files: [look] }), 'propagate', NOW)
      expect(change).toMatchObject({ kind: 'pending', reason: 'there again', file: { image: 7 } })
    },
  )
})

describe('planMissingFolder', () => {
  it('gives up what was in it, unless a rule hides it', () => {
    expect(planMissingFolder([row()], false, 'propagate', NOW)).toMatchObject([{ kind: 'gone' }])
    expect(planMissingFolder([row()], true, 'propagate', NOW)).toMatchObject([{ kind: 'aside' }])
  })
})

describe('whyImageStays', () => {
  it('keeps the image of a picture that may have moved and is not uploaded yet', () => {
    expect(whyImageStays(HASH, [])).toBeNull()
    expect(whyImageStays(HASH, [{ hash: null }])).toContain('moved')
    expect(whyImageStays(HASH, [{ hash: HASH }])).toContain('moved')
    expect(whyImageStays(HASH, [{ hash: Buffer.alloc(32, 2) }])).toBeNull()
  })
})
