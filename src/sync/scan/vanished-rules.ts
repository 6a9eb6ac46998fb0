import type { FolderLook, IgnoreFile } from '../../local/look.ts'
import type { Tx } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Clock } from '../clock.ts'

/** An editor that saves a file by deleting it and writing it anew is done by then. */
const BACK_SOON_MS = 10_000

/**
 * Ignore files that were just found gone, alone or with their folder. Without the ignore file, all that it hid would be
 * published. So a missing ignore file is believed only when a later pass finds it missing too, ten seconds later at least,
 * because passes may follow each other at once. An example: an editor saves `.albumdignore` by deleting it and renaming a
 * new file to its place; a scan in between sees no ignore file, and nothing in that folder is uploaded until it is back.
 */
export class VanishedRules {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** When it was found gone, by mirror and path, because a folder's record may be removed and made anew meanwhile. */
  readonly #foundGone = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** What was found gone long enough before this pass is believed from here on. */
  passBegins(): void {
    const now = this.#clock.monotonic()
    for (const [folder, since] of this.#foundGone)
      if (now - since >= BACK_SOON_MS) this.#foundGone.delete(folder)
  }

  /** The folder is missing. */
  folderGoes(folder: FolderRow): void {
    if (folder.ignore_text !== null) this.#note(folder)
  }

  /** What is to be believed of a folder's ignore file. */
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
