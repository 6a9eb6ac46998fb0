import { execFileSync } from 'node:child_process'
import { appendFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Disk, realDisk } from '../../src/local/disk.ts'
import { type FolderResult, lookAtFolder } from '../../src/local/look.ts'
import { because } from '../../src/words/reasons.ts'
import { plant, planted, tempFolder } from '../temp-folder.ts'
import { expectLook, folderAt, laterDisk } from './walk.ts'

/** The real disk, failing where a test wants it to: permissions would not stop root. */
function failing(code: string, at: (path: string) => boolean, calls: (keyof Disk)[] = ['lstat']): Disk {
  const fail = (call: keyof Disk, path: string) => {
    if (calls.includes(call) && at(path)) throw Object.assign(new Error(`${code}: refused`), { code })
  }
  return {
    ...laterDisk,
    lstat(path) {
      fail('lstat', path)
      return laterDisk.lstat(path)
    },
    readFolder(path) {
      fail('readFolder', path)
      return laterDisk.readFolder(path)
    },
    readText(path) {
      fail('readText', path)
      return laterDisk.readText(path)
    },
  }
}

function digestOf(result: FolderResult): string | null {
  expectLook(result)
  return result.kind === 'different' ? result.digest : null
}

describe('what a look finds', () => {
  it('lists pictures of every format in any case, and the folders', () => {
    const root = tempFolder()
    const names = 'a.png b.jpg c.jpeg d.gif e.webp f.svg g.bmp h.tiff i.tif j.ico K.PNG'.split(' ')
    plant(root, {
      ...Object.fromEntries(names.map(name => [`x/${name}`, name])),
      'x/sub.png/': '',
      'x/y/': '',
    })
    const look = expectLook(lookAtFolder(laterDisk, root, folderAt('x')))
    expect(look.files.map(({ name }) => name).sort()).toEqual(names.sort())
    expect(look.folders).toEqual(['sub.png', 'y'])
    expect(look.leftOut).toEqual({ format: 0, ignored: 0, hidden: 0, empty: 0, links: 0 })
    const { kind: _, birthtime: __, dev: ___, ...stat } = realDisk.lstat(`${root}/x/a.png`)
    expect(look.files.find(({ name }) => name === 'a.png')).toEqual({ name: 'a.png', ...stat })
  })

  it('counts what it leaves out, each entry once', () => {
    const root = planted({
      '.albumdignore': 'drafts/\n*.gif\nnotes.*\n.hidden.gif\n',
      '.hidden.gif': 'a',
      '.cache/a.png': 'a',
      'photo.heic': 'a',
      readme: 'a',
      'notes.txt': 'a',
      'old.gif': 'a',
      'drafts/a.png': 'a',
      'empty.png': '',
    })
    symlinkSync('photo.heic', `${root}/link.png`)
    symlinkSync('drafts', `${root}/link`)
    execFileSync('mkfifo', [`${root}/pipe.png`])
    const look = expectLook(lookAtFolder(laterDisk, root, folderAt('')))
    expect(look.leftOut).toEqual({ format: 2, ignored: 3, hidden: 2, empty: 1, links: 3 })
    expect(look).toMatchObject({ files: [], folders: [], problems: [] })
    expect(look.aside).toEqual([
      'drafts',
      'empty.png',
      'link',
      'link.png',
      'old.gif',
      'photo.heic',
      'pipe.png',
    ])
    expect(look.ignored).toEqual(['drafts', 'old.gif'])
  })

  it('asks the disk for the metadata of pictures alone', () => {
    const root = planted({ 'a.png': 'a', 'b.txt': 'b', 'c/d.png': 'd', '.e.png': 'e' })
    const asked: string[] = []
    const disk = failing('EIO', path => asked.push(path) < 0)
    lookAtFolder(disk, root, folderAt(''))
    expect(new Set(asked)).toEqual(new Set([root, `${root}/a.png`]))
  })

  it.runIf(process.platform === 'linux')('reports names that are not UTF-8 and takes the others', () => {
    const root = planted({ 'a.png': 'a' })
    for (const end of ['.png', '.txt', ''])
      writeFileSync(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff]), Buffer.from(end)]), 'b')
    const look = expectLook(lookAtFolder(laterDisk, root, folderAt('')))
    expect(look.files.map(({ name }) => name)).toEqual(['a.png'])
    expect(look.problems).toEqual([
      { name: 'b\\xff.png', code: 'NAME_NOT_UTF8', message: because('name_not_utf8') },
    ])
    expect(look.leftOut.format).toBe(2)
    const hidden = expectLook(
      lookAtFolder(laterDisk, root, folderAt('', { rules: [{ base: '', text: 'b*' }] })),
    )
    expect(hidden).toMatchObject({ problems: [], aside: [], leftOut: { ignored: 3 } })
  })
})

it('a folder is a mount point where its device is another than its parent’s, and only that counts', () => {
  const root = planted({ 'a/b/c.png': 'c' })
  const disk = (devices: Record<string, number>): Disk => ({
    ...laterDisk,
    lstat: path => ({ ...laterDisk.lstat(path), dev: devices[path.slice(root.length)] ?? 1 }),
  })
  const at = (path: string, devices: Record<string, number>, digest: string | null = null) =>
    lookAtFolder(disk(devices), root, folderAt(path, { digest }))
  expect(expectLook(at('a/b', {})).mount).toBe(false)
  expect(expectLook(at('a/b', { '/a/b': 2 })).mount).toBe(true)
  expect(expectLook(at('a/b', { '/a': 2, '/a/b': 2 })).mount).toBe(false)
  expect(expectLook(at('', { '': 2 })).mount).toBe(false)
  const mounted = digestOf(at('a/b', { '/a/b': 2 }))
  expect(at('a/b', { '/a/b': 3 }, mounted).kind).toBe('same')
  expect(at('a/b', {}, mounted).kind).toBe('different')
})

describe('what the disk refuses', () => {
  it('takes no folder or link for the picture whose name it has taken during the look', () => {
    const root = planted({ 'a.png': 'a', 'b.png': 'b', 'c.png': 'c' })
    const replacing: Disk = {
      ...laterDisk,
      readFolder(path) {
        const entries = laterDisk.readFolder(path)
        rmSync(`${root}/a.png`)
        plant(root, { 'a.png/': '' })
        rmSync(`${root}/b.png`)
        symlinkSync('c.png', `${root}/b.png`)
        return entries
      },
    }
    const look = expectLook(lookAtFolder(replacing, root, folderAt('')))
    expect(look.files.map(({ name }) => name)).toEqual(['c.png'])
    expect(look.problems).toEqual([])
  })

  it('keeps a file that cannot be read apart from one that is gone', () => {
    const root = planted({ 'a.png': 'a', 'b.png': 'b', 'c.png': 'c' })
    const without = (code: string) => failing(code, path => path.endsWith('b.png'))
    const refused = expectLook(lookAtFolder(without('EACCES'), root, folderAt('')))
    expect(refused.files.map(({ name }) => name)).toEqual(['a.png', 'c.png'])
    const message = because('not_visible', { code: 'EACCES', words: 'EACCES: refused' })
    expect(refused.problems).toEqual([{ name: 'b.png', code: 'UNREADABLE', message }])
    const gone = expectLook(lookAtFolder(without('ENOENT'), root, folderAt('')))
    expect(gone.files.map(({ name }) => name)).toEqual(['a.png', 'c.png'])
    expect(gone.problems).toEqual([])
  })

  it('shows none of the pictures of a folder that is emptied while it is looked at', () => {
    const root = planted({ 'a.png': 'a', 'b.png': 'b', 'c.png': 'c' })
    let looks = 0
    const emptied: Disk = {
      ...laterDisk,
      lstat(path) {
        const stat = laterDisk.lstat(path)
        if (path.endsWith('.png') && ++looks === 1)
          for (const name of ['a.png', 'b.png', 'c.png']) rmSync(`${root}/${name}`)
        return stat
      },
    }
    expect(expectLook(lookAtFolder(emptied, root, folderAt(''))).files).toEqual([])
    expect(looks).toBe(1)
  })

  it('makes a folder that cannot be read unknown, never empty', () => {
    const root = planted({ 'a/b.png': 'b', file: 'f' })
    symlinkSync('a', `${root}/link`)
    const refused = lookAtFolder(
      failing('EACCES', path => path.endsWith('/a'), ['readFolder']),
      root,
      folderAt('a'),
    )
    expect(refused).toEqual({ path: 'a', kind: 'unknown', code: 'EACCES', message: 'EACCES: refused' })
    for (const [path, code] of Object.entries({ gone: 'ENOENT', file: 'ENOTDIR', link: 'ENOTDIR' }))
      expect(lookAtFolder(realDisk, root, folderAt(path))).toMatchObject({ path, kind: 'unknown', code })
  })

  it('does not call files gone because their folder was moved away during the look', () => {
    const root = planted({ 'a/b.png': 'b' })
    const moving: Disk = {
      ...realDisk,
      readFolder(path) {
        const entries = realDisk.readFolder(path)
        renameSync(path, `${root}/elsewhere`)
        return entries
      },
    }
    expect(lookAtFolder(moving, root, folderAt('a'))).toMatchObject({ kind: 'unknown', code: 'ENOENT' })
  })

  it('does not take the content of a folder that was swapped for another during the look', () => {
    const root = planted({ 'a/b.png': 'b', 'other/c.png': 'c' })
    const swapping: Disk = {
      ...realDisk,
      readFolder(path) {
        renameSync(path, `${root}/old`)
        renameSync(`${root}/other`, path)
        return realDisk.readFolder(path)
      },
    }
    expect(lookAtFolder(swapping, root, folderAt('a'))).toMatchObject({ kind: 'unknown', code: 'CHANGED' })
  })

  it('says why an ignore file cannot be read', () => {
    const root = planted({ '.albumdignore': '*.gif', 'a.png': 'a', 'linked/': '' })
    symlinkSync('../.albumdignore', `${root}/linked/.albumdignore`)
    const refused = failing('EACCES', path => path.endsWith('ignore'), ['readText'])
    const look = expectLook(lookAtFolder(refused, root, folderAt('')))
    expect(look.ignoreFile).toEqual({ unreadable: { code: 'EACCES', message: 'EACCES: refused' } })
    const linked = expectLook(lookAtFolder(realDisk, root, folderAt('linked')))
    expect(linked.ignoreFile).toEqual({
      unreadable: { code: 'ELOOP', message: expect.stringContaining('ELOOP') },
    })
    const vanished = failing('ENOENT', path => path.endsWith('ignore'), ['readText'])
    expect(expectLook(lookAtFolder(vanished, root, folderAt(''))).ignoreFile).toEqual({ text: null })
  })

  it('does not take a mistake in the program for a fault of the disk', () => {
    const broken: Disk = {
      ...realDisk,
      readFolder: () => {
        throw new TypeError('a mistake')
      },
    }
    expect(() => lookAtFolder(broken, tempFolder(), folderAt(''))).toThrow('a mistake')
  })
})

describe('the second look', () => {
  const first = (root: string) => digestOf(lookAtFolder(laterDisk, root, folderAt('')))
  const second = (root: string, digest: string | null) =>
    lookAtFolder(laterDisk, root, folderAt('', { digest })).kind

  it('is the same where nothing has changed', () => {
    const root = planted({ 'a.png': 'a', 'b/c.png': 'c', '.albumdignore': '*.gif' })
    expect(lookAtFolder(laterDisk, root, folderAt('', { digest: first(root) }))).toEqual({
      path: '',
      kind: 'same',
    })
  })

  const changes: Record<string, (root: string) => void> = {
    'a file was added': root => plant(root, { 'b.png': 'b' }),
    'a file was removed': root => rmSync(`${root}/a.png`),
    'a file was renamed': root => renameSync(`${root}/a.png`, `${root}/c.png`),
    'a file has grown': root => appendFileSync(`${root}/a.png`, 'a'),
    'a file was edited and its mtime put back': root => {
      const { mtime, ctime } = realDisk.lstat(`${root}/a.png`)
      // Again until the kernel's clock has moved on.
      while (realDisk.lstat(`${root}/a.png`).ctime === ctime) {
        writeFileSync(`${root}/a.png`, 'b')
        utimesSync(`${root}/a.png`, mtime / 1e6, mtime / 1e6)
      }
    },
    'a file was replaced': root => {
      writeFileSync(`${root}/new.png`, 'a')
      renameSync(`${root}/new.png`, `${root}/a.png`)
    },
    'a folder was added': root => plant(root, { 'b/': '' }),
    'a file of another format was added': root => plant(root, { 'b.heic': 'b' }),
    'a rule was added': root => plant(root, { '.albumdignore': '*.gif' }),
  }
  it.each(Object.entries(changes))('differs where %s', (_, change) => {
    const root = planted({ 'a.png': 'a' })
    const digest = first(root)
    change(root)
    expect(second(root, digest)).toBe('different')
  })

  it('differs where a rule of a folder above was added', () => {
    const root = planted({ 'a.png': 'a' })
    const folder = folderAt('', { digest: first(root), rules: [{ base: '', text: '*.gif' }] })
    expect(lookAtFolder(laterDisk, root, folder).kind).toBe('different')
  })

  it('comes back whole where a file is so fresh that another edit could bear the same stamp', () => {
    const root = planted({ 'a.png': 'a' })
    const { ctime } = realDisk.lstat(`${root}/a.png`)
    const at = (now: number) => digestOf(lookAtFolder({ ...realDisk, now: () => now }, root, folderAt('')))
    expect(at(ctime + 2_000_000)).toBeNull()
    expect(at(ctime - 2_000_000)).toBeNull()
    expect(at(ctime + 3_000_000)).toBe(first(root))
    // A clock that was wrong once must not make the folder fresh for years.
    expect(at(ctime - 3_000_000)).toBe(first(root))
  })
})
