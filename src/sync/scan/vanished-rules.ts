import type { FolderLook, IgnoreFile } from '../../local/look.ts'
import type { Tx } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Clock } from '../clock.ts'

/** Whoever saves a file by deleting it and writing it anew is done by then. */
const BACK_SOON_MS = 10_000

/**
 * The ignore files that were just found gone, alone or with their folder: what they hid would be published. Each is
 * believed gone when a later pass finds it still gone. Passes of one process may follow each other at once: there it
 * takes some seconds as well.
 */
export class VanishedRules {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By mirror and path, for a folder's record may go and come back meanwhile: when it was found gone. */
  readonly #foundGone = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** What was found gone long enough before this pass is believed. */
  passBegins(): void {
    const now = this.#clock.monotonic()
    for (const [folder, since] of this.#foundGone)
      if (now - since >= BACK_SOON_MS) this.#foundGone.delete(folder)
  }

  /** The folder is not there, or is left out. */
  folderGoes(folder: FolderRow): void {
    if (folder.ignore_text !== null) this.#note(folder)
  }

  /** What is to be believed of a folder's ignore file. */
  judge({ folders }: Tx, folder: FolderRow, { ignoreFile }: FolderLook): IgnoreFile {
    if ('text' in ignoreFile && ignoreFile.text !== null) this.#foundGone.delete(keyOf(folder))
    const isJustGone = this.#foundGone.has(keyOf(folder))
    const hadOne = folder.ignore_text !== null || isJustGone
    const vanished = 'text' in ignoreFile && ignoreFile.text === null && hadOne
    const isStillGone = folder.ignore_gone === 1 && !isJustGone
    if (!vanished || isStillGone) return ignoreFile
    this.#note(folder)
    folders.ignoreGone(folder.id)
    return {
      unreadable: 'it was there before; if it is gone for good, a pass some seconds later goes without it',
    }
  }

  #note(folder: FolderRow): void {
    const key = keyOf(folder)
    if (!this.#foundGone.has(key)) this.#foundGone.set(key, this.#clock.monotonic())
  }
}

function keyOf({ mirror, path }: FolderRow): string {
  return `${mirror}/${path}`
}
