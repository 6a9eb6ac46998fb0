import type { FolderLook } from '../../local/look.ts'
import type { Deletions } from '../../records/escrow.ts'
import { changed, type FileChange } from '../../records/pictures.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Tell } from '../pass-events.ts'
import { type MissingReason, type PlanPolicy, planFolder, planMissingFolder } from '../plan.ts'
import { pathOf } from '../tree-path.ts'
import type { DoubtCode } from './doubts.ts'

export interface RecordsParts {
  synced: Synced
  /** The mirror's row. */
  mirror: number
  folder: string
  deletions: Deletions
  /** Whether images of ignored pictures are deleted like images of deleted pictures (`sync --prune-ignored`). */
  pruneIgnored?: boolean
  /** The grace: how long a file must be gone before its image is deleted, in milliseconds of running time. */
  graceMs: number
  /** Running time in milliseconds. */
  running: () => number
  /** Milliseconds since 1970. */
  now: () => number
  tell: Tell
}

/** Records what a scan found, folder by folder. */
export class FolderRecords {
  readonly #parts: RecordsParts
  readonly #synced: Synced
  readonly #policy: PlanPolicy

  constructor(parts: RecordsParts) {
    this.#parts = parts
    this.#synced = parts.synced
    this.#policy = { deletions: parts.deletions, prunes: file => this.#prunes(file) }
  }

  /** The changes that a look means for the folder's files. */
  changes(folder: FolderRow, look: FolderLook): FileChange[] {
    return planFolder(
      folder.id,
      this.#synced.files.ofFolder(folder.id),
      look,
      this.#policy,
      this.#parts.now(),
    )
  }

  /**
   * The pictures with an image that a folder has lost, where it has lost all that it held and got no others. Empty in
   * any other case.
   */
  lostWith(folder: FolderRow, look: FolderLook): FileRow[] {
    if (look.files.length > 0) return []
    const held = this.#synced.files.ofFolder(folder.id).filter(({ state }) => state !== 'gone')
    const gone = this.changes(folder, look).filter(({ kind }) => kind === 'gone')
    if (gone.length < held.filter(({ state }) => state !== 'kept').length) return []
    return gone.map(({ file }) => file).filter(({ image }) => image !== null)
  }

  look(tx: Tx, folder: FolderRow, digest: string | null, ignoreText: string | null, look: FolderLook): void {
    const { folders, failures } = tx
    this.#apply(tx, folder.path, this.changes(folder, look))
    failures.clearLook(folder.id)
    for (const { name, code, message } of look.problems)
      failures.put({ folder: folder.id, name, source: 'look', code, message, next_attempt_at: null })
    folders.looked(folder.id, digest, ignoreText, look)
    folder.digest = digest
    folder.ignore_text = ignoreText
    folder.unknown = null
    folder.mount = look.mount ? 1 : 0
    folder.mounted_ino = look.mount ? look.identity.ino : null
    folder.mounted_birthtime = look.mount ? look.identity.birthtime : null
    folder.accept = 0
  }

  /** Records that a folder is missing. The folders below it get calls of their own. */
  missing(tx: Tx, folder: FolderRow, why: MissingReason): void {
    const { files, folders, failures } = tx
    const known = files.ofFolder(folder.id)
    this.#apply(tx, folder.path, planMissingFolder(known, why, this.#policy, this.#parts.now()))
    failures.clearAll(folder.id)
    if (why === 'gone') folders.unmounted(folder.id)
    folders.gone(folder.id)
    folders.removeIfEmpty(folder.id)
  }

  /** Records that an ignore rule hides a folder, when a person asked for the deletion of such images. */
  prune(tx: Tx, path: string): void {
    for (const folder of tx.folders.from({ mirror: this.#parts.mirror, path }))
      this.missing(tx, folder, 'ignored')
  }

  /** Records that a folder is in doubt. Its files stay as recorded. */
  doubt({ folders, failures }: Tx, folder: FolderRow, code: DoubtCode, message: Reason): void {
    folder.digest = null
    folder.unknown = message
    folder.accept = 0
    folders.setUnknown({ id: folder.id, unknown: message })
    failures.put({ folder: folder.id, name: '', source: 'look', code, message, next_attempt_at: null })
  }

  #apply(tx: Tx, path: string, changes: FileChange[]): void {
    const { tell, folder: root, mirror, now, running, graceMs } = this.#parts
    for (const change of changes) {
      const { kind, file, reason } = change
      const at = pathOf(path, file.name)
      tell({ event: 'change_found', mirror: root, path: at, change: kind, reason })
      changed(tx, change, { mirror, path: at }, { now: now(), running: running(), graceMs })
    }
  }

  /** Once a person has asked for a deletion of an ignored picture's image, the request stays until it is done. */
  #prunes({ state, image }: FileRow): boolean {
    if (this.#parts.pruneIgnored) return true
    return state === 'gone' && image !== null && this.#synced.escrow.of(image)?.reason === 'ignored'
  }
}
