import type { FolderLook, IgnoreFile } from '../local/look.ts'
import type { FolderRow } from '../synced/folders.ts'
import type { Synced } from '../synced/synced.ts'

/**
 * The ignore files that one pass has found gone, alone or with their folder: what they hid would be published. Each is
 * believed gone when it is still gone the next time. A second look of the same pass may come a moment later: that is
 * the same time. Shared by the scans of a pass.
 */
export class VanishedRules {
  /** Mirror and path: a folder's record may go and come back meanwhile. */
  readonly #folders = new Set<string>()

  /** The folder is not there, or is left out. */
  folderGoes(folder: FolderRow): void {
    if (folder.ignore_text !== null) this.#folders.add(keyOf(folder))
  }

  /** What is to be believed of a folder's ignore file. Belongs inside a commit. */
  judge({ folders }: Synced, folder: FolderRow, { ignoreFile }: FolderLook): IgnoreFile {
    const isJustGone = this.#folders.has(keyOf(folder))
    const hadOne = folder.ignore_text !== null || isJustGone
    const vanished = 'text' in ignoreFile && ignoreFile.text === null && hadOne
    const isStillGone = folder.ignore_gone === 1 && !isJustGone
    if (!vanished || isStillGone) return ignoreFile
    this.#folders.add(keyOf(folder))
    folders.ignoreGone(folder.id)
    return { unreadable: 'it was there before; if it is gone for good, the next pass goes without it' }
  }
}

function keyOf({ mirror, path }: FolderRow): string {
  return `${mirror}/${path}`
}
