import { EventEmitter, once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { EventQueue } from '../../src/local/event-queue.ts'
import type { WatchLoss } from '../../src/local/folder-watcher.ts'
import { FolderWatcher } from '../../src/local/folder-watcher.ts'
import { plant, tempFolder } from '../temp-folder.ts'

/** A mirror that is watched, a folder beside it on the same file system, and what was told of the mirror. */
export class Watched {
  readonly root: string
  readonly outside: string
  readonly watcher: FolderWatcher
  readonly stale = new Set<string>()
  readonly losses: WatchLoss[] = []
  readonly #told = new EventEmitter().setMaxListeners(0)

  private constructor(root: string, outside: string, queue: EventQueue) {
    this.root = root
    this.outside = outside
    this.watcher = new FolderWatcher(root, {
      queue,
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

  /** Folders that are missing are made. `root`: where the mirror is; `files` are below the same folder as it. */
  static async open(
    folders: string[],
    files: Record<string, string> = {},
    root = 'mirror',
    queue = new EventQueue(),
  ): Promise<Watched> {
    const temp = tempFolder()
    for (const folder of folders) fs.mkdirSync(join(temp, root, folder), { recursive: true })
    plant(temp, { 'outside/': '', ...files })
    const watched = new Watched(join(temp, root), join(temp, 'outside'), queue)
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
  async told(act: () => unknown, ...folders: string[]): Promise<string[]> {
    this.stale.clear()
    const all = Promise.all(folders.map(folder => once(this.#told, `stale ${folder}`)))
    await act()
    await all
    return [...this.stale]
  }

  lost(): Promise<unknown> {
    return once(this.#told, 'lost')
  }

  /** Waits until the watch of a folder stands again. While it is opened anew a file may be missed, and what is left
   * of that may be taken for the next file's event: so it counts when five in a row are told. */
  async hears(folder: string): Promise<void> {
    for (let heard = 0, made = 0; heard < 5; made++) {
      this.stale.clear()
      this.touch(`${folder}/${folder.replaceAll('/', '-')}-${made}.jpg`)
      for (let turn = 0; turn < 20 && !this.stale.has(folder); turn++) await pause(5)
      heard = this.stale.has(folder) ? heard + 1 : 0
    }
  }
}
