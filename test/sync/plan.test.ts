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
    expect(change).toMatchObject({ kind: 'gone', image: 7, file: { state: 'gone' } })
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

  it('leaves an upload whose outcome is not known alone, whatever becomes of the file', () => {
    const uncertain = row({ state: 'uncertain' })
    expect(planFolder(1, [uncertain], seen({}), 'propagate', NOW)).toEqual([])
    const [change] = planFolder(1, [uncertain], seen({ files: [{ ...look, size: 11 }] }), 'propagate', NOW)
    expect(change).toMatchObject({ file: { state: 'uncertain' } })
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
    expect(planMissingFolder([row()], false, 'propagate', NOW)).toMatchObject([{ kind: 'gone', image: 7 }])
    expect(planMissingFolder([row()], true, 'propagate', NOW)).toMatchObject([{ kind: 'aside' }])
  })
})

describe('whyImageStays', () => {
  it('lets an image go when nothing stands against it', () => {
    expect(whyImageStays(HASH, [row({ state: 'gone' })], [])).toBeNull()
  })

  it('keeps what another file stands on', () => {
    expect(whyImageStays(HASH, [row()], [])).toContain('another file')
  })

  it('keeps the image of a picture that may have moved and is not uploaded yet', () => {
    expect(whyImageStays(HASH, [], [row({ state: 'pending', hash: null })])).toContain('moved')
    expect(whyImageStays(HASH, [], [row({ state: 'failed', hash: HASH })])).toContain('moved')
    expect(whyImageStays(HASH, [], [row({ state: 'failed', hash: Buffer.alloc(32, 2) })])).toBeNull()
  })
})
