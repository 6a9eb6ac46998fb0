import { execFileSync, spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FolderWatcher, openFolderWatcher } from '../../src/local/folder-watcher.ts'
import type { WatchLoss } from '../../src/local/watch-loss.ts'
import { plant, tempFolder } from './temp-folder.ts'

/** A mirror that is watched, a folder beside it on the same file system, and what was told of the mirror. */
class Watched {
  readonly root: string
  readonly outside: string
  readonly watcher: FolderWatcher
  readonly stale = new Set<string>()
  readonly losses: WatchLoss[] = []
  readonly #told = new EventEmitter().setMaxListeners(0)

  private constructor(root: string, outside: string) {
    this.root = root
    this.outside = outside
    this.watcher = openFolderWatcher(root, {
      onStale: folder => {
        this.stale.add(folder)
        this.#told.emit(`stale ${folder}`)
      },
      onLost: loss => {
        this.losses.push(loss)
        this.#told.emit('lost')
      },
    })
  }

  /** Folders that are missing are made. */
  static async open(folders: string[], files: Record<string, string> = {}): Promise<Watched> {
    const temp = tempFolder()
    for (const folder of folders) fs.mkdirSync(join(temp, 'mirror', folder), { recursive: true })
    plant(temp, { 'outside/': '', ...files })
    const watched = new Watched(join(temp, 'mirror'), join(temp, 'outside'))
    onTestFinished(() => watched.watcher.close())
    await watched.watcher.watch(folders)
    return watched
  }

  in(path: string): string {
    return join(this.root, path)
  }

  out(path: string): string {
    return join(this.outside, path)
  }

  /** One event, and no more: an empty file is only made. */
  touch(path: string): void {
    fs.writeFileSync(this.in(path), '', { flag: 'wx' })
  }

  /** Does something, and waits until each of the folders was told. */
  async told(act: () => void, ...folders: string[]): Promise<string[]> {
    this.stale.clear()
    const all = Promise.all(folders.map(folder => once(this.#told, `stale ${folder}`)))
    act()
    await all
    return [...this.stale]
  }

  lost(): Promise<unknown> {
    return once(this.#told, 'lost')
  }

  /**
   * Waits until the watch of a folder stands again. While it is opened anew a file may be missed, and what is left
   * of that may be taken for the next file's event: so it counts when five in a row are told.
   */
  async hears(folder: string): Promise<void> {
    for (let heard = 0, made = 0; heard < 5; made++) {
      this.stale.clear()
      this.touch(`${folder}/${folder.replaceAll('/', '-')}-${made}.jpg`)
      for (let turn = 0; turn < 20 && !this.stale.has(folder); turn++) await pause(5)
      heard = this.stale.has(folder) ? heard + 1 : 0
    }
  }
}

describe('openFolderWatcher', () => {
  type Act = (watched: Watched) => void
  const acts: [string, Act][] = [
    ['a new file', w => fs.writeFileSync(w.in('a/new.jpg'), 'picture')],
    ['a new empty file', w => w.touch('a/new.jpg')],
    ['a file that was changed in place', w => fs.appendFileSync(w.in('a/old.jpg'), 'more')],
    ['a file that was deleted', w => fs.unlinkSync(w.in('a/old.jpg'))],
    ['a file that was renamed', w => fs.renameSync(w.in('a/old.jpg'), w.in('a/new.jpg'))],
    ['a file that was moved in', w => fs.renameSync(w.out('x.jpg'), w.in('a/x.jpg'))],
    ['a file that was moved out', w => fs.renameSync(w.in('a/old.jpg'), w.out('old.jpg'))],
    ['a file that was replaced by a rename', w => fs.renameSync(w.out('x.jpg'), w.in('a/old.jpg'))],
    ['a file that a hard link finished', w => fs.linkSync(w.out('x.jpg'), w.in('a/x.jpg'))],
    ['a file with a name that ends in ~', w => w.touch('a/x.jpg~')],
    ['an ignore file', w => w.touch('a/.albumdignore')],
    ['a file with a newline in its name', w => w.touch('a/one\ntwo.jpg')],
    ['a file with a name like an option', w => w.touch('a/-rf')],
    ['a file with a name like a pattern', w => w.touch('a/[a]{b}*?.jpg')],
    ['a file with a backslash in its name', w => w.touch('a/..\\x.jpg')],
    ['a file with the name of its folder', w => w.touch('a/a')],
    [
      'a file with a name that is not UTF-8',
      w => fs.writeFileSync(Buffer.concat([Buffer.from(w.in('a/')), Buffer.from([0xff, 0xfe])]), ''),
    ],
    [
      'mkdir -p and a file in it at once',
      w => {
        fs.mkdirSync(w.in('a/deep/deeper'), { recursive: true })
        w.touch('a/deep/deeper/x.jpg')
      },
    ],
    ['a folder that was moved in whole', w => fs.renameSync(w.out('album'), w.in('a/album'))],
    ['a folder that was moved out whole', w => fs.renameSync(w.in('a/unwatched'), w.out('unwatched'))],
    ['a folder that was deleted', w => fs.rmSync(w.in('a/unwatched'), { recursive: true })],
  ]
  it.each(acts)('tells of the right folder after %s', async (_, act) => {
    const watched = await Watched.open(['', 'a', 'b'], {
      'mirror/a/old.jpg': 'picture',
      'mirror/a/unwatched/x.jpg': 'picture',
      'outside/x.jpg': 'another picture',
      'outside/album/x.jpg': 'picture',
    })
    expect(await watched.told(() => act(watched), 'a')).toEqual(['a'])
  })

  const names = [
    'one\ntwo',
    '-rf',
    '[a]',
    '{b,c}',
    '*',
    '**',
    '!x',
    'a\\b',
    '..\\x',
    'x~',
    ' ',
    '\u{FFFD}',
    '%41',
  ]
  it.each(names)('watches a folder that is called %j, and those in it', async name => {
    const watched = await Watched.open(['', name, `${name}/in`])
    expect(await watched.told(() => watched.touch(`${name}/x.jpg`), name)).toEqual([name])
    expect(await watched.told(() => watched.touch(`${name}/in/x.jpg`), `${name}/in`)).toEqual([`${name}/in`])
  })

  it('calls the root by the empty path', async () => {
    const watched = await Watched.open(['', 'a'])
    expect(await watched.told(() => watched.touch('x.jpg'), '')).toEqual([''])
  })

  it('takes a root that is spelled in a roundabout way', async () => {
    const root = tempFolder()
    plant(root, { 'a/': '' })
    const { promise, resolve } = Promise.withResolvers<string>()
    const watcher = openFolderWatcher(`${root}/a/..//`, { onStale: resolve, onLost() {} })
    onTestFinished(() => watcher.close())
    await watcher.watch(['', 'a'])
    fs.writeFileSync(join(root, 'a/x.jpg'), '')
    expect(await promise).toBe('a')
  })

  it('tells nothing after its end', async () => {
    const watched = await Watched.open(['', 'a'])
    await watched.watcher.close()
    // Another watcher shows when the event has come.
    const { promise, resolve } = Promise.withResolvers<string>()
    const other = openFolderWatcher(watched.root, { onStale: resolve, onLost() {} })
    onTestFinished(() => other.close())
    await other.watch(['a'])
    watched.touch('a/x.jpg')
    expect(await promise).toBe('a')
    expect([...watched.stale]).toEqual([])
  })
})

describe('a watched folder', () => {
  it('that was deleted and made again at once is watched', async () => {
    const watched = await Watched.open(['', 'a'])
    const again = () => {
      fs.rmdirSync(watched.in('a'))
      fs.mkdirSync(watched.in('a'))
    }
    await watched.told(again, '', 'a')
    await watched.hears('a')
  })

  it('that was deleted and made again a hundred times, with files in it, is told after the last of it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    for (let n = 0; n < 100; n++) {
      fs.rmSync(watched.in('a'), { recursive: true })
      fs.mkdirSync(watched.in('a/b'), { recursive: true })
      watched.touch('a/b/x.jpg')
    }
    await watched.hears('a/b')
    await watched.hears('a')
  })

  it('is told for itself when its whole tree is deleted, however large', async () => {
    const below = Array.from({ length: 1500 }, (_, n) => `a/${n % 30}/${n}`)
    const folders = ['', 'a', ...Array.from({ length: 30 }, (_, n) => `a/${n}`), ...below]
    const watched = await Watched.open(folders)
    await watched.told(() => fs.rmSync(watched.in('a'), { recursive: true }), '', ...below)
    await watched.told(() => fs.mkdirSync(watched.in('a/7/7'), { recursive: true }), '', 'a/7/7')
    await watched.hears('a/7/7')
    expect(watched.losses).toEqual([])
  })

  it('that became a symbolic link is not watched at its end', async () => {
    const watched = await Watched.open(['', 'a'], { 'outside/x.jpg': 'picture' })
    const swap = () => {
      fs.rmdirSync(watched.in('a'))
      fs.symlinkSync(watched.outside, watched.in('a'))
    }
    await watched.told(swap, '', 'a')
    // The root's next event comes after whatever this one causes.
    fs.appendFileSync(watched.out('x.jpg'), 'more')
    expect(await watched.told(() => watched.touch('x.jpg'), '')).not.toContain('a')
    expect(watched.watcher.lost()).toEqual([])
  })

  it('is watched and told anew on request, with all below it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b', 'ab'])
    expect(await watched.told(() => watched.watcher.renew(['a']), 'a', 'a/b')).toEqual(['a', 'a/b'])
    await watched.hears('a/b')
  })

  it('that was deleted, and made again when that was known, is watched', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    await watched.told(() => fs.rmSync(watched.in('a'), { recursive: true }), '', 'a', 'a/b')
    await watched.told(() => fs.mkdirSync(watched.in('a/b'), { recursive: true }), '', 'a', 'a/b')
    await watched.hears('a')
    await watched.hears('a/b')
  })

  it('that was swapped for another is watched, with all below it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'], { 'outside/a/b/x.jpg': 'picture' })
    const swap = () => {
      fs.renameSync(watched.in('a'), watched.out('old'))
      fs.renameSync(watched.out('a'), watched.in('a'))
    }
    await watched.told(swap, '', 'a', 'a/b')
    await watched.hears('a')
    await watched.hears('a/b')
  })

  it('that took the place of another is told under its new name alone', async () => {
    const watched = await Watched.open(['', 'a', 'b'])
    const take = () => {
      fs.renameSync(watched.in('a'), watched.out('a'))
      fs.renameSync(watched.in('b'), watched.in('a'))
    }
    await watched.told(take, '', 'a', 'b')
    await watched.hears('a')
    expect(await watched.told(() => watched.touch('a/last.jpg'), 'a')).toEqual(['a'])
  })

  it('that was moved out and back is watched, with all below it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    await watched.told(() => fs.renameSync(watched.in('a'), watched.out('a')), '', 'a', 'a/b')
    await watched.told(() => fs.renameSync(watched.out('a'), watched.in('a')), '', 'a', 'a/b')
    await watched.hears('a/b')
  })

  it('is watched again when the root was away', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    await watched.told(() => fs.renameSync(watched.root, watched.out('mirror')), '', 'a', 'a/b')
    await watched.told(() => fs.renameSync(watched.out('mirror'), watched.root), '', 'a', 'a/b')
    await watched.hears('a/b')
  })

  it('that was missing at first is told when it is made', async () => {
    const watched = await Watched.open([''])
    await watched.watcher.watch(['a', 'a/b'])
    await watched.told(() => fs.mkdirSync(watched.in('a/b'), { recursive: true }), 'a/b')
    await watched.hears('a/b')
  })

  it('is told no more once it, or a folder above it, is unwatched', async () => {
    const watched = await Watched.open(['', 'a', 'a/b', 'ab'])
    watched.watcher.unwatch(['a'])
    watched.touch('a/x.jpg')
    watched.touch('a/b/x.jpg')
    expect(await watched.told(() => watched.touch('ab/x.jpg'), 'ab')).toEqual(['ab'])
  })

  it('that was unwatched can be watched again', async () => {
    const watched = await Watched.open(['', 'a'])
    watched.watcher.unwatch(['a'])
    await watched.watcher.watch(['a'])
    expect(await watched.told(() => watched.touch('a/x.jpg'), 'a')).toEqual(['a'])
  })

  it('that can be watched is, when another can not, and that one is a loss each time it is named', async () => {
    const watched = await Watched.open([''], { 'mirror/a/': '' })
    const tooLong = 'x'.repeat(256)
    await watched.watcher.watch([tooLong, 'a'])
    await watched.watcher.watch([tooLong])
    const message = `${watched.in(tooLong)} can't be watched (ENAMETOOLONG).`
    expect(watched.losses).toMatchObject([
      { code: 'WATCH_ERROR', message },
      { code: 'WATCH_ERROR', message },
    ])
    expect(watched.watcher.lost()).toEqual([tooLong])
    expect(await watched.told(() => watched.touch('a/x.jpg'), 'a')).toEqual(['a'])
  })
})

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  it('one inotify watch serves a folder and none a file, and the end leaves none', async () => {
    const before = inotifyWatches()
    const folders = ['', ...Array.from({ length: 50 }, (_, n) => `${n}`)]
    const files = folders.flatMap(folder => [`mirror/${folder}/a.jpg`, `mirror/${folder}/b.jpg`])
    const { watcher } = await Watched.open(folders, Object.fromEntries(files.map(file => [file, 'picture'])))
    expect(inotifyWatches()).toBe(before + 51)
    await watcher.watch(folders)
    expect(inotifyWatches()).toBe(before + 51)
    watcher.unwatch(['7', '8'])
    expect(inotifyWatches()).toBe(before + 49)
    await watcher.close()
    expect(inotifyWatches()).toBe(before)
  })

  it('an end in the middle of a start leaves no watch', async () => {
    const before = inotifyWatches()
    const { watcher, root } = await Watched.open([''])
    const folders = Array.from({ length: 50 }, (_, n) => `${n}`)
    plant(root, Object.fromEntries(folders.map(folder => [`${folder}/a.jpg`, 'picture'])))
    const started = watcher.watch(folders)
    await watcher.close()
    expect(inotifyWatches()).toBe(before)
    await started
    expect(inotifyWatches()).toBe(before)
  })

  it('a burst beyond the kernel’s queue is a loss, and no watch is dead afterwards', async () => {
    const watched = await Watched.open(['', 'a'], twoFiles)
    const lost = watched.lost()
    makeEvents(watched, 17_000)
    fs.rmdirSync(watched.in('a'))
    fs.mkdirSync(watched.in('a'))
    await lost
    expect(watched.losses.map(({ code }) => code)).toEqual(['WATCH_OVERFLOW'])
    await watched.hears('a')
  })

  it('a burst that the queue can hold is no loss', async () => {
    const watched = await Watched.open([''], twoFiles)
    await watched.told(() => makeEvents(watched, 4000), '')
    await watched.hears('')
    expect(watched.losses).toEqual([])
  })

  const limits = [
    ['max_inotify_watches', 20, 'max_user_watches'],
    ['max_inotify_instances', 0, 'max_user_instances'],
  ] as const
  it.skipIf(!canLimit() && !process.env.CI).each(limits)(
    'the system’s limit %s is one loss, with the remedy',
    (limit, to, key) => {
      const folders = ['', ...Array.from({ length: 40 }, (_, n) => `${n}`)]
      const root = tempFolder()
      plant(root, Object.fromEntries(folders.map(folder => [`${folder}/a.jpg`, 'picture'])))
      const script = `
      const { openFolderWatcher } = await import(${JSON.stringify(import.meta.resolve('../../src/local/folder-watcher.ts'))})
      const losses = []
      const watcher = openFolderWatcher(${JSON.stringify(root)}, { onStale() {}, onLost: loss => losses.push(loss) })
      await watcher.watch(${JSON.stringify(folders)})
      console.log(JSON.stringify(losses))
      await watcher.close()`
      const [loss, ...more] = JSON.parse(
        runLimited(`echo ${to} > /proc/sys/user/${limit}`, script),
      ) as WatchLoss[]
      expect(more).toEqual([])
      expect(loss?.code).toBe('WATCH_LIMIT')
      expect(loss?.remedy).toContain(`sudo sysctl fs.inotify.${key}=`)
    },
  )
})

const twoFiles = { 'mirror/0.jpg': 'picture', 'mirror/1.jpg': 'picture' }

/** All in one turn of the loop. The kernel merges equal events that follow one another, so two files take turns. */
function makeEvents({ root }: Watched, count: number): void {
  for (let n = 0; n < count; n++) fs.chmodSync(join(root, `${n % 2}.jpg`), 0o644)
}

/** Those of this process, as the kernel counts them. */
function inotifyWatches(): number {
  const lines = fs.readdirSync('/proc/self/fdinfo').flatMap(fd => {
    const path = `/proc/self/fdinfo/${fd}`
    // The descriptor that lists them is among those listed, and closed by now.
    return fs.existsSync(path) ? fs.readFileSync(path, 'utf8').split('\n') : []
  })
  return lines.filter(line => line.startsWith('inotify ')).length
}

/** Limits of one's own come with a user namespace; not every machine lets one make it. */
function canLimit(): boolean {
  return spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0
}

function runLimited(limit: string, script: string): string {
  const command = `${limit} && exec "$0" --input-type=module -e "$1"`
  return execFileSync(
    'unshare',
    ['--user', '--map-root-user', 'sh', '-c', command, process.execPath, script],
    {
      encoding: 'utf8',
    },
  )
}
