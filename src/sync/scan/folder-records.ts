import type { FolderLook } from '../../local/look.ts'
import { addFiles } from '../../records/file-states.ts'
import { changed, type FileChange, isOfKnown, keepingImage } from '../../records/pictures.ts'
import type { Tx } from '../../synced/synced.ts'
import type { FileAtPath, FileRow } from '../../synced/tables/files.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { codeOf } from '../../words/reasons.ts'
import { momentOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import type { MirrorPolicy, Pass } from '../pass-request.ts'
import { type MissingReason, type PlanPolicy, planFolder, planMissingFolder } from '../plan.ts'
import { fullPath, pathOf } from '../tree-path.ts'
import type { Doubt } from './doubts.ts'
import { isAsKnown, isHeld, whetherThere } from './trust.ts'

/** What a scan works with. The host is left out, because a scan does not ask it. */
export type ScanContext = Pick<
  EngineContext,
  'synced' | 'disk' | 'clock' | 'emit' | 'graceMs' | 'running' | 'vanishedRules'
>

/** What the scan of one mirror works with. It also knows the uploads under way beside it. */
export type MirrorScanContext = ScanContext & Pick<Pass, 'underWay'>

/** Records what a scan found, folder by folder. */
export class FolderRecords {
  readonly #context: MirrorScanContext
  readonly #mirror: MirrorRow
  readonly #pruneIgnored: boolean
  readonly #policy: PlanPolicy
  /** The folders of which changes were left out because an upload is under way. */
  readonly #leftOut = new Set<number>()

  constructor(context: MirrorScanContext, mirror: MirrorRow, policy: MirrorPolicy) {
    this.#context = context
    this.#mirror = mirror
    this.#pruneIgnored = policy.pruneIgnored ?? false
    this.#policy = { deletions: policy.deletions, prunes: file => this.#prunes(file) }
  }

  /** What a look at the folder changes for its files, also for those under way, because doubts are judged by all files. */
  changes(folder: FolderRow, look: FolderLook): FileChange[] {
    return planFolder(folder.id, this.#context.synced.files.ofFolder(folder.id), look, this.#policy)
  }

  /** The pictures that a folder has lost and that may be on the host. `isOther`: also those that the folders below have lost. */
  lostFrom(folder: FolderRow, changes: readonly FileChange[], isOther: boolean): FileRow[] {
    const { synced, disk } = this.#context
    const gone = new Set(changes.flatMap(({ kind, file }) => (kind === 'gone' ? file.name : [])))
    const own = synced.files.ofFolder(folder.id)
    const lost = own.filter(file => gone.has(file.name) && isHeld(synced, file))
    if (!isOther) return lost
    for (const file of this.#below(folder))
      if (isHeld(synced, file) && whetherThere(disk, fullPath(this.#mirror.folder, file.path)) === 'no')
        lost.push(file)
    return lost
  }

  /** Whether a look, or the disk in the folders below, shows a picture just as it is recorded. Once it did, the folder is known
   * as a copy: looks at the folders below have recorded other files since. */
  showsRecorded(folder: FolderRow, { files }: FolderLook): boolean {
    if (folder.unknown !== null && codeOf(folder.unknown) === 'folder_older') return true
    const { synced, disk } = this.#context
    const recorded = new Map(synced.files.ofFolder(folder.id).map(file => [file.name, file]))
    for (const { name, size, mtime } of files) {
      const known = recorded.get(name)
      if (known?.size === size && known.mtime === mtime) return true
    }
    for (const file of this.#below(folder))
      if (this.#isSettled(file) && isAsKnown(disk, this.#mirror.folder, file)) return true
    return false
  }

  /** Records a look that is believed. Leaves out what it changes for files under way. */
  look(
    tx: Tx,
    folder: FolderRow,
    digest: string | null,
    ignoreText: string | null,
    look: FolderLook,
    changes: readonly FileChange[],
  ): void {
    const { folders, failures } = tx
    const recorded = changes.filter(({ file }) => !this.#leavesOut(file, folder))
    this.#apply(tx, folder.path, recorded)
    const news = look.problems.filter(({ name, code }) => failures.of(folder.id, name)?.code !== code)
    for (const { name, code, message } of news) {
      const path = pathOf(folder.path, name)
      this.#context.emit({ event: 'picture_failed', mirror: this.#mirror.folder, path, code, message })
    }
    failures.clearLook(folder.id)
    for (const { name, code, message } of look.problems)
      failures.put({
        folder: folder.id,
        name,
        source: 'look',
        code,
        message,
        refusals: 0,
        next_attempt_at: null,
      })
    folders.looked(folder.id, this.#leftOut.has(folder.id) ? null : digest, ignoreText, look)
    Object.assign(folder, folders.byId(folder.id))
  }

  /** Whether a file in these missing folders is under way. If so, a later scan records them as missing. */
  anyUnderWay(missing: readonly FolderRow[], above: FolderRow): boolean {
    const { synced, underWay } = this.#context
    if (!underWay.any) return false
    const files = missing.flatMap(({ id }) => synced.files.ofFolder(id))
    return files.filter(file => this.#leavesOut(file, above)).length > 0
  }

  /** Records that a folder is missing. The caller does the same for the folders below it. */
  missing(tx: Tx, folder: FolderRow, why: MissingReason): void {
    const { files, folders, failures } = tx
    const known = files.ofFolder(folder.id)
    this.#apply(tx, folder.path, planMissingFolder(known, why, this.#policy))
    failures.clearAll(folder.id)
    if (why === 'gone' || (why === 'ignored' && this.#pruneIgnored)) folders.unmounted(folder.id)
    folders.gone(folder.id)
    folders.removeIfEmpty(folder.id)
  }

  /** Records that a folder is in doubt. The records of its files stay as they are. */
  doubt({ folders, failures }: Tx, { folder, code, why }: Doubt): void {
    folders.setUnknown({ id: folder.id, unknown: why })
    Object.assign(folder, folders.byId(folder.id))
    failures.put({
      folder: folder.id,
      name: '',
      source: 'look',
      code,
      message: why,
      refusals: 0,
      next_attempt_at: null,
    })
  }

  /** The recorded files of all folders below, absent ones too: an older copy may show what was there long ago. */
  *#below({ id, path }: FolderRow): Generator<FileAtPath> {
    for (const file of this.#context.synced.files.below(this.#mirror.id, path))
      if (file.folder !== id) yield file
  }

  /** Whether a pass has dealt with a file as it is recorded. A pending file may be news of this scan, and is compared by size
   * and time with what was sent. */
  #isSettled({ state, image, size, mtime }: FileRow): boolean {
    if (state !== 'pending' && state !== 'gone') return true
    const sent = image === null ? undefined : this.#context.synced.images.byId(image)
    return sent?.size === size && sent.mtime === mtime
  }

  #leavesOut(file: FileRow, { id, path: folder }: FolderRow): boolean {
    const leavesOut = this.#context.underWay.leavesOut(file, { mirror: this.#mirror.folder, folder })
    if (leavesOut) this.#leftOut.add(id)
    return leavesOut
  }

  #apply(tx: Tx, path: string, changes: readonly FileChange[]): void {
    const { id: mirror, folder } = this.#mirror
    const moment = momentOf(this.#context)
    const added = changes.flatMap(({ was, file }) => (was === null ? file : []))
    addFiles(tx, added, moment.now)
    for (const planned of changes) {
      const change = keepingImage(tx, planned)
      const { kind, file, reason } = change
      const at = pathOf(path, file.name)
      this.#context.emit({ event: 'change_found', mirror: folder, path: at, change: kind, reason })
      if (kind === 'gone') {
        const cdn_url = file.image === null ? null : (tx.images.byId(file.image)?.cdn_url ?? null)
        this.#context.emit({ event: 'picture_gone', mirror: folder, path: at, cdn_url })
      }
      if (isOfKnown(change)) changed(tx, change, { mirror, path: at }, moment)
    }
  }

  /** Whether a person wants the image of this ignored picture deleted. An image that is in escrow for this stays there. */
  #prunes({ state, image }: FileRow): boolean {
    if (this.#pruneIgnored) return true
    return state === 'gone' && image !== null && this.#context.synced.escrow.of(image)?.reason === 'ignored'
  }
}
