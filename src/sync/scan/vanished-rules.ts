import type { FolderLook, IgnoreFile } from '../../local/look.ts'
import type { Tx } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Clock } from '../clock.ts'

/** Milliseconds. By then an editor that saves a file by deleting it and writing it again has written it. */
const BACK_SOON_MS = 10_000

/**
 * Ignore files that were just found gone, alone or with their folder. Without the ignore file, all that it hid would be
 * published. So a missing ignore file is believed only when a later pass finds it missing too, ten seconds later at least,
 * because passes may follow each other at once. An example: an editor saves `.albumdignore` by deleting it and renaming a
 * new file to its place; a scan in between sees no ignore file, and nothing in that folder is uploaded until it is back.
 */
export class VanishedRules {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** When each ignore file was found gone, by mirror and path. A row would not do, because a folder may lose its row meanwhile. */
  readonly #foundGone = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Begins a pass. Ignore files that were found gone long enough before it are believed to be gone. */
  passBegins(): void {
    const now = this.#clock.monotonic()
    for (const [folder, since] of this.#foundGone)
      if (now - since >= BACK_SOON_MS) this.#foundGone.delete(folder)
  }

  /** Notes that a folder with an ignore file is missing. */
  folderGoes(folder: FolderRow): void {
    if (folder.ignore_text !== null) this.#note(folder)
  }

  /** What counts as the folder's ignore file: the file that was found, or a doubt about a file that has just vanished. */
  judge({ folders }: Tx, folder: FolderRow, { ignoreFile }: FolderLook): IgnoreFile | { vanished: true } {
    if ('text' in ignoreFile && ignoreFile.text !== null) this.#foundGone.delete(keyOf(folder))
    const isJustGone = this.#foundGone.has(keyOf(folder))
    const hadOne = folder.ignore_text !== null || isJustGone
    const vanished = 'text' in ignoreFile && ignoreFile.text === null && hadOne
    const isStillGone = folder.ignore_gone === 1 && !isJustGone
    if (!vanished || isStillGone) return ignoreFile
    this.#note(folder)
    folders.ignoreGone(folder.id)
    return { vanished: true }
  }

  #note(folder: FolderRow): void {
    const key = keyOf(folder)
    if (!this.#foundGone.has(key)) this.#foundGone.set(key, this.#clock.monotonic())
  }
}

function keyOf({ mirror, path }: FolderRow): string {
  return `${mirror}/${path}`
}
