import { describe, expect, it, onTestFinished } from 'vitest'
import { type FolderLook, type FolderResult, lookAtFolder, rulesWithin } from '../../src/local/look.ts'
import { openScanPool, type ScanPoolOptions, startThread } from '../../src/local/scan-pool.ts'
import { plant, planted } from '../temp-folder.ts'
import { childPath, expectLook, folderAt, laterDisk, walk } from './walk.ts'

function openPool(root: string, options: ScanPoolOptions) {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  return { ...openScanPool(root, ended.signal, options), end: () => ended.abort() }
}

/** 111 folders, one of which has rules of its own. */
function plantTree(): string {
  const root = planted({ '.albumdignore': 'no*.png', '1/.albumdignore': '!nod.png' })
  for (let year = 0; year < 10; year++)
    for (let album = 0; album < 10; album++)
      plant(root, {
        [`${year}/${album}/a.png`]: 'a',
        [`${year}/${album}/nod.png`]: 'n',
        [`${year}/${album}/b.txt`]: 'b',
      })
  return root
}

const always: ScanPoolOptions = { workers: 2, mayBlock: false }

describe('openScanPool', () => {
  const ways: [string, ScanPoolOptions][] = [
    ['in the calling thread', { workers: 0 }],
    ['in one worker', { workers: 1, mayBlock: false }],
    ['in two workers', always],
    ['in the calling thread until the workers have started', { workers: 2 }],
  ]
  it.each(ways)('finds the same %s, while new folders are added', async (_, options) => {
    const root = plantTree()
    const pool = openPool(root, options)
    const looks = new Map<string, FolderLook>()
    async function descend(path: string, rules: ReturnType<typeof rulesWithin>): Promise<void> {
      const [result] = await pool.look([folderAt(path, { rules })])
      const look = expectLook(result!)
      looks.set(path, look)
      const below = rulesWithin({ path, rules }, look.ignoreFile)
      await Promise.all(look.folders.map(name => descend(childPath(path, name), below)))
    }
    await descend('', [])
    expect(looks).toEqual(walk(laterDisk, root))
    expect(looks.get('1/1')!.files.map(({ name }) => name)).toEqual(['a.png', 'nod.png'])
    expect(looks.get('2/1')!.files.map(({ name }) => name)).toEqual(['a.png'])
  })

  it('uses threads that were started before it was opened', async () => {
    const root = planted({ 'a/a.png': 'a' })
    startThread(root)
    const pool = openPool(root, { workers: 0, mayBlock: false })
    const [result] = await pool.look([folderAt('a')])
    expect(expectLook(result!).files.map(({ name }) => name)).toEqual(['a.png'])
  })

  it('answers a batch in its order: same, different and unknown', async () => {
    const root = planted({ 'a/a.png': 'a', 'b/b.png': 'b' })
    const known = lookAtFolder(laterDisk, root, folderAt('a')) as FolderResult & { digest: string }
    const pool = openPool(root, always)
    const results = await pool.look([
      folderAt('gone'),
      folderAt('a', { digest: known.digest }),
      folderAt('b', { digest: known.digest }),
    ])
    expect(results).toMatchObject([
      { path: 'gone', kind: 'unknown', code: 'ENOENT' },
      { path: 'a', kind: 'same' },
      { path: 'b', kind: 'different', look: { files: [{ name: 'b.png' }] } },
    ])
  })

  it('knows nothing of the folders that a worker had when it died, and starts another', async () => {
    const root = planted({ 'a.png': 'a' })
    const pool = openPool(root, { workers: 1, mayBlock: false })
    const mistake = folderAt('', { rules: null as never })
    const lost = [pool.look([mistake]), pool.look([folderAt('')])]
    const died = {
      path: '',
      kind: 'unknown',
      code: 'SCAN_WORKER_DIED',
      message: expect.stringMatching(/ died \(.+\)/),
    }
    expect(await Promise.all(lost)).toEqual([[died], [died]])
    await expect.poll(() => pool.look([folderAt('')])).toMatchObject([{ kind: 'different' }])
  })

  it.each(ways)(
    'rejects what is open when the scan ends, and all that is asked later: %s',
    async (_, options) => {
      const root = plantTree()
      const pool = openPool(root, options)
      const open = pool.look(
        Array.from({ length: 100 }, (_, at) => folderAt(`${Math.floor(at / 10)}/${at % 10}`)),
      )
      const answer = expect(open).rejects.toMatchObject({ code: 'SCAN_CLOSED' })
      pool.end()
      await answer
      await expect(pool.look([folderAt('')])).rejects.toMatchObject({ code: 'SCAN_CLOSED' })
    },
  )
})
