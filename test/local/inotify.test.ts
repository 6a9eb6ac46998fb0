import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EventQueue } from '../../src/local/event-queue.ts'
import type { WatchLoss } from '../../src/local/folder-watcher.ts'
import { inWords } from '../../src/words/reasons.ts'
import { plant, tempFolder } from '../temp-folder.ts'
import { Watched } from './watched.ts'

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  it('one inotify watch serves a folder, at, above and below the root, and none a file, and the end leaves none', async () => {
    const before = inotifyWatches()
    const folders = ['', ...Array.from({ length: 50 }, (_, n) => `${n}`)]
    const files = folders.flatMap(folder => [`mirror/${folder}/a.jpg`, `mirror/${folder}/b.jpg`])
    const { root, watcher } = await Watched.open(
      folders,
      Object.fromEntries(files.map(file => [file, 'picture'])),
    )
    const above = root.split('/').length - 1
    expect(inotifyWatches()).toBe(before + above + 51)
    await watcher.watch(folders)
    expect(inotifyWatches()).toBe(before + above + 51)
    watcher.unwatch(['7', '8'])
    expect(inotifyWatches()).toBe(before + above + 49)
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

  it.each<[string, (watched: Watched, other: Watched) => void]>([
    [
      'above the roots',
      ({ root }) => {
        for (let n = 0; n < 17_000; n++) fs.chmodSync(join(root, '..', n % 2 ? 'mirror' : 'outside'), 0o755)
      },
    ],
    [
      'of two mirrors, of which neither fills half of it,',
      (watched, other) => {
        makeEvents(watched, 6000)
        makeEvents(other, 6000)
      },
    ],
  ])('a burst %s is a loss for each mirror, because they share the queue', async (_, burst) => {
    const queue = new EventQueue()
    const [watched, other] = [
      await Watched.open([''], twoFiles, 'mirror', queue),
      await Watched.open([''], twoFiles, 'mirror', queue),
    ]
    await watched.hears('')
    await other.hears('')
    const lost = Promise.all([watched.lost(), other.lost()])
    burst(watched, other)
    await lost
    expect([watched, other].map(({ losses }) => losses.map(({ code }) => code))).toEqual([
      ['WATCH_OVERFLOW'],
      ['WATCH_OVERFLOW'],
    ])
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
      const { FolderWatcher } = await import(${JSON.stringify(import.meta.resolve('../../src/local/folder-watcher.ts'))})
      const losses = []
      const { EventQueue } = await import(${JSON.stringify(import.meta.resolve('../../src/local/event-queue.ts'))})
      const watcher = new FolderWatcher(${JSON.stringify(root)}, { queue: new EventQueue(), onStale() {}, onLost: loss => losses.push(loss) })
      await watcher.watch(${JSON.stringify(folders)})
      console.log(JSON.stringify(losses))
      await watcher.close()`
      const [loss, ...more] = JSON.parse(
        runLimited(`echo ${to} > /proc/sys/user/${limit}`, script),
      ) as WatchLoss[]
      expect(more).toEqual([])
      expect(loss?.code).toBe('WATCH_LIMIT')
      expect(inWords(loss!.message)).toContain(`sudo sysctl fs.inotify.${key}=`)
    },
  )

  it('names the limit that is met: the one of watchers, or the one of open files', () => {
    const script = `
      import { openSync } from 'node:fs'
      import { lossOf } from ${JSON.stringify(join(import.meta.dirname, '../../src/local/folder-watcher.ts'))}
      import { inWords } from ${JSON.stringify(join(import.meta.dirname, '../../src/words/reasons.ts'))}
      const told = () => inWords(lossOf(Object.assign(new Error(), { code: 'EMFILE' }), '/srv/a').message)
      const first = told()
      try { for (;;) openSync('/dev/null') } catch {}
      process.stdout.write(JSON.stringify([first, told()]))`
    const limited = 'ulimit -n 200; exec "$0" --input-type=module --eval "$1"'
    const told = JSON.parse(execFileSync('sh', ['-c', limited, process.execPath, script]).toString())
    expect(told).toEqual([
      expect.stringContaining('fs.inotify.max_user_instances'),
      expect.stringContaining('ulimit -n'),
    ])
  })
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
