import type { IgnoreRules } from '../../local/ignore-rules.ts'
import type { FolderLook, FolderResult } from '../../local/look.ts'
import type { FileChange } from '../../records/pictures.ts'
import type { Tx } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { LookAtFolders } from '../context.ts'
import type { MirrorPolicy } from '../pass-request.ts'
import { type MissingReason, missingReasonIn } from '../plan.ts'
import { folderAbove, foldersAbove, pathOf } from '../tree-path.ts'
import { type Doubt, MountDoubts, noticingMounts } from './doubts.ts'
import { EmptiedFolders, isAnotherFolder } from './emptied-folders.ts'
import { FolderRecords, type MirrorScanContext } from './folder-records.ts'
import { KnownFolders } from './known-folders.ts'
import { isSameRoot, type TrustedRoot } from './trust.ts'

export interface ScanResult {
  folders: number
  /** False: something could not be read, or the scan was ended early. */
  complete: boolean
  /** Why the scan ended early: the root could not be read, or was replaced. Nothing more was recorded then. Null: it did not. */
  rootProblem: Reason | null
}

/** Errors of a look at a folder that was deleted or replaced meanwhile. A look at its parent shows what became of it. */
const PASSING = new Set(['ENOENT', 'ENOTDIR', 'CHANGED'])
/** How often a folder with one of these errors is looked at while its parent still lists it. */
const TRIES = 3

/** A look that is believed, and what it changes for the folder's files. */
interface Seen {
  digest: string | null
  look: FolderLook
  changes: FileChange[]
}

type Job = { path: string; rules: IgnoreRules[]; rulesKey: string }

/** One scan of a mirror: it looks at folders, compares each with its records, and records what changed.
 *
 * Folders are looked at in batches, parents before their children, and each batch is recorded in one commit. When a folder
 * looks as recorded (its digest is the same), nothing more is done. Every other look has one of four outcomes:
 * - The folder can't be read, its ignore file can't be relied on, or its disk is not mounted: the folder is in doubt. All
 *   records of the folder, and of what is below it, stay as they are.
 * - The folder has lost all its many pictures, or another folder is in its place and pictures in it or below are gone: the
 *   folder waits until all mirrors were scanned (EmptiedFolders).
 * - An ignore file above the folder has changed since the batch began: the folder is looked at again, under the new rules.
 * - In all other cases the look is believed: files are compared (plan.ts), new folders are looked at, and folders that the
 *   folder no longer lists are missing.
 *
 * An example: `2024/` holds `a.jpg`, and a person moves the folder to `old/2024/`. The watcher says "look at the root". The
 * root now lists `old` and no `2024`. So `2024` is missing, its file `a.jpg` is gone, and its image gets its grace. `old`
 * is new, so it is looked at, then `old/2024`, where `a.jpg` is found as a pending file. It is uploaded before the old
 * image is deleted. If `2024` had been the mount point of a disk, `2024` would now be in doubt, and its image would stay. */
export class MirrorScan {
  /** The mirror as recorded when the scan began. */
  readonly mirror: MirrorRow
  readonly policy: MirrorPolicy
  /** The root as found when the scan began. */
  readonly root: TrustedRoot
  readonly #context: MirrorScanContext
  readonly #look: LookAtFolders
  readonly #known = new KnownFolders()
  readonly #records: FolderRecords
  readonly #emptied: EmptiedFolders
  readonly #mounts: MountDoubts
  readonly #queue = new ScanQueue(batch => this.#lookAndRecord(batch))
  readonly #tries = new Map<string, number>()
  /** The folders that a person trusted before this scan. What folders below them lack was named then. */
  readonly #accepted = new Set<string>()
  #complete = true
  #rootProblem: Reason | null = null

  constructor(
    context: MirrorScanContext,
    mirror: MirrorRow,
    policy: MirrorPolicy,
    root: TrustedRoot,
    look: LookAtFolders,
  ) {
    this.#context = context
    this.mirror = mirror
    this.policy = policy
    this.root = root
    this.#look = noticingMounts(look, context.disk, mirror.folder)
    this.#records = new FolderRecords(context, mirror, policy)
    this.#emptied = new EmptiedFolders(context.synced)
    this.#mounts = new MountDoubts(context, mirror, root.accepted, this.#known)
  }

  /** Looks at the folders of `scope`, or at everything, and at new folders below them. */
  async look(scope: readonly string[] | 'everything', signal: AbortSignal): Promise<void> {
    const { folders } = this.#context.synced
    for (const folder of folders.ofMirror(this.mirror.id)) this.#known.add(folder)
    const everything = () => ['', ...this.#known.paths().filter(path => path !== '')]
    this.#queue.push(scope === 'everything' ? everything() : [...scope].sort())
    if (this.policy.pruneIgnored) for (const folder of folders.absent(this.mirror.id)) this.#known.add(folder)
    await this.#work(signal)
  }

  /** Whether no emptied folder waits for the scans of other mirrors. */
  isDecided(): boolean {
    return !this.#emptied.any()
  }

  /** Decides about the emptied folders, after all mirrors were scanned. `taken`: one set for all mirrors (`foundElsewhere`). */
  async finish(taken: Set<string>, signal: AbortSignal): Promise<ScanResult> {
    while (this.#emptied.any() && this.#rootProblem === null && !signal.aborted) {
      await this.#context.synced.commit(tx => this.#settleEmptied(tx, taken))
      await this.#work(signal)
    }
    if (signal.aborted) this.#complete = false
    return { folders: this.#known.paths().length, complete: this.#complete, rootProblem: this.#rootProblem }
  }

  #work(signal: AbortSignal): Promise<void> {
    return this.#queue.work(() => signal.aborted || this.#rootProblem !== null)
  }

  async #lookAndRecord(paths: string[]): Promise<void> {
    const jobs = paths.filter(path => !this.#isClosed(path)).map(path => this.#job(path))
    const digest = (path: string) =>
      this.policy.pruneIgnored ? null : (this.#known.at(path)?.digest ?? null)
    const { converts } = this.policy
    const results = await this.#look(
      jobs.map(({ path, rules }) => ({ path, rules, converts, digest: digest(path) })),
    )
    if (results.every(result => result.kind === 'same')) return
    // After a power cut the next scan finds the same again.
    await this.#context.synced.commit(tx => {
      if (!this.#isSameRoot()) return
      for (const [at, result] of results.entries()) this.#record(tx, jobs[at]!, result)
    }, 'unsynced')
  }

  #job(path: string): Job {
    const rules = this.#known.rulesAbove(path, this.policy.ignore)
    return { path, rules, rulesKey: rules.map(({ base, text }) => `${base}\0${text}`).join('\0') }
  }

  /** Whether the root is still the same; if not, ends the scan. Asked after folders were read, because their disk may be gone. */
  #isSameRoot(): boolean {
    const { folder } = this.mirror
    if (!isSameRoot(this.#context.disk, folder, this.root.identity))
      this.#endAt(because('root_replaced', { folder }))
    return this.#rootProblem === null
  }

  #record(tx: Tx, job: Job, result: FolderResult): void {
    if (result.kind === 'same' || this.#isClosed(job.path)) return
    const doubt = this.#mounts.lost([...foldersAbove(job.path)])
    if (doubt) this.#doubt(tx, doubt)
    else if (this.#job(job.path).rulesKey !== job.rulesKey) this.#queue.push([job.path])
    else if (result.kind === 'unknown') this.#recordUnknown(tx, job.path, result.code, result.message)
    else this.#recordLook(tx, job.path, result.digest, result.look)
  }

  #recordUnknown(tx: Tx, path: string, code: string, message: string): void {
    if (path === '') {
      this.#endAt(because('root_lost_in_scan', { folder: this.mirror.folder, words: `${message} (${code})` }))
      return
    }
    const tries = (this.#tries.get(path) ?? 0) + 1
    this.#tries.set(path, tries)
    const passing = PASSING.has(code)
    if (passing && tries < TRIES) this.#askParent(path)
    // When a folder came and went between two scans, nothing is recorded of it, so nothing is in doubt.
    else if (!passing || this.#known.at(path)) {
      const why = because('folder_unreadable', { code })
      this.#doubt(tx, { folder: this.#folder(tx, path), code: 'FOLDER_UNREADABLE', why })
    }
  }

  /** Looks again at the parent of a folder that vanished after its parent was looked at, and at the folder. */
  #askParent(path: string): void {
    const parent = folderAbove(path)
    const row = this.#known.at(parent)
    if (row) row.digest = null
    this.#queue.push([parent, path])
  }

  #recordLook(tx: Tx, path: string, digest: string | null, look: FolderLook): void {
    const folder = this.#folder(tx, path)
    const trusted = this.root.accepted || folder.accept === 1
    const doubt = this.#doubtAbout(tx, folder, look, trusted)
    if (doubt) {
      this.#doubt(tx, doubt)
      return
    }
    const changes = this.#records.changes(folder, look)
    const isOther = isAnotherFolder(folder, look)
    if (folder.accept === 1) this.#accepted.add(path)
    const isAccepted = trusted || [...foldersAbove(path)].some(above => this.#accepted.has(above))
    const lost = isAccepted ? [] : this.#records.lostFrom(folder, changes, isOther)
    const isCopy = isOther && lost.length > 0 && this.#records.showsRecorded(folder, look)
    const waits = this.#emptied.defer({ folder, digest, look, changes, lost, isOther, isCopy })
    if (waits) this.#queueNew(tx, path, look)
    else this.#believe(tx, folder, { digest, look, changes }, trusted)
  }

  /** Why a folder is in doubt because of its mount or its ignore file, or null. `trusted`: a person trusts it as it is. */
  #doubtAbout(tx: Tx, folder: FolderRow, look: FolderLook, trusted: boolean): Doubt | null {
    const { vanishedRules } = this.#context
    const mount = trusted ? null : this.#mounts.seen(folder, look)
    if (mount) return mount
    const ignoreFile = trusted ? look.ignoreFile : vanishedRules.judge(tx, folder, look)
    if ('vanished' in ignoreFile)
      return { folder, code: 'IGNORE_FILE_UNREADABLE', why: because('ignore_file_vanished') }
    if (!('unreadable' in ignoreFile)) return null
    const { code, message } = ignoreFile.unreadable
    const why = because('ignore_file_unreliable', { code, why: message })
    return { folder, code: 'IGNORE_FILE_UNREADABLE', why }
  }

  #believe(tx: Tx, folder: FolderRow, { digest, look, changes }: Seen, trusted: boolean): void {
    const { path } = folder
    const text = 'text' in look.ignoreFile ? look.ignoreFile.text : null
    // Nothing below a folder in doubt was looked at, so all of it is looked at now.
    const lookBelow = folder.ignore_text !== text || folder.unknown !== null
    this.#known.openBelow(path)
    // The folders below come first, because a doubt about a missing folder is judged by what was known before this look.
    this.#recordFoldersBelow(tx, path, look, trusted)
    this.#records.look(tx, folder, digest, text, look, changes)
    if (lookBelow) this.#queue.push(this.#known.below(path))
  }

  #recordFoldersBelow(tx: Tx, path: string, look: FolderLook, trusted: boolean): void {
    const listed = new Set(look.folders)
    const reasonOf = missingReasonIn(look)
    for (const name of this.#known.namesIn(path))
      if (!listed.has(name)) this.#recordMissing(tx, pathOf(path, name), reasonOf(name), trusted)
    this.#queueNew(tx, path, look)
  }

  #recordMissing(tx: Tx, path: string, why: MissingReason, trusted: boolean): void {
    // Pictures that a rule hid in a folder are pruned even when the folder is gone by now.
    const mayPrune = why === 'ignored' || why === 'gone'
    if (!mayPrune && !this.#known.at(path)?.present) return
    const absent = new Set(this.#known.from(path).flatMap(({ id, present }) => (present ? [] : id)))
    this.#known.closeMissing(path)
    const mayBeThere = why === 'gone' && !trusted && this.#known.at(path)?.accept !== 1
    const folder = this.#folder(tx, path)
    const doubt = mayBeThere ? this.#mounts.missing(folder) : null
    if (doubt) {
      this.#doubt(tx, doubt)
      return
    }
    const missing = this.#known.from(path).filter(({ id }) => mayPrune || !absent.has(id))
    if (this.#records.anyUnderWay(missing, this.#folder(tx, folderAbove(path)))) return
    for (const folder of missing) {
      this.#context.vanishedRules.folderGoes(folder)
      this.#records.missing(tx, folder, absent.has(folder.id) ? 'ignored' : why)
      this.#known.remove(folder.path)
    }
  }

  /** Records new folders before they are looked at, so that a process that starts after a crash looks at them. */
  #queueNew(tx: Tx, path: string, look: FolderLook): void {
    for (const name of look.folders) {
      const child = pathOf(path, name)
      const isBack = this.#known.isBack(child)
      if (!isBack && this.#known.at(child)?.present) continue
      this.#folder(tx, child)
      this.#queue.push([child])
    }
  }

  #settleEmptied(tx: Tx, taken: Set<string>): void {
    if (!this.#isSameRoot()) return
    for (const { folder, digest, look, doubt } of this.#emptied.settle(taken, this.mirror.folder)) {
      if (this.#isClosed(folder.path)) continue
      const found = this.#mounts.lost([...foldersAbove(folder.path), folder.path]) ?? doubt
      if (found) this.#doubt(tx, found)
      else this.#believe(tx, folder, { digest, look, changes: this.#records.changes(folder, look) }, false)
    }
  }

  #doubt(tx: Tx, doubt: Doubt): void {
    this.#complete = false
    this.#known.closeBelow(doubt.folder.path)
    this.#records.doubt(tx, doubt)
  }

  /** Ends the scan: nothing more is recorded. */
  #endAt(rootProblem: Reason): void {
    this.#rootProblem = rootProblem
    this.#complete = false
  }

  /** The folder's record. Makes it where there is none, or where the folder was absent. */
  #folder(tx: Tx, path: string): FolderRow {
    const known = this.#known.at(path)
    return known?.present ? known : this.#known.add(tx.folders.add(this.mirror.id, path))
  }

  #isClosed(path: string): boolean {
    return this.#known.isClosed(path) || this.#emptied.misses(path)
  }
}

/** Folders in a batch, and batches at once. Few of them need little memory, and two for each thread keep it busy. */
const FOLDERS_PER_BATCH = 16
const BATCHES_IN_FLIGHT = 4

/** A queue of folders to look at, several batches at a time. Folders may be pushed at any time. */
class ScanQueue {
  readonly #look: (batch: string[]) => Promise<void>
  readonly #paths: string[] = []
  #next = 0

  constructor(look: (batch: string[]) => Promise<void>) {
    this.#look = look
  }

  push(paths: Iterable<string>): void {
    for (const path of paths) this.#paths.push(path)
  }

  /** Works until all folders were looked at. `isEnded`: returns true when no further batch may begin. */
  async work(isEnded: () => boolean): Promise<void> {
    const underWay = new Set<Promise<void>>()
    for (;;) {
      while (this.#next < this.#paths.length && underWay.size < BATCHES_IN_FLIGHT && !isEnded()) {
        const batch = this.#paths.slice(this.#next, this.#next + FOLDERS_PER_BATCH)
        this.#next += batch.length
        const job = this.#look(batch).finally(() => underWay.delete(job))
        underWay.add(job)
      }
      if (underWay.size === 0) return
      await Promise.race(underWay)
    }
  }
}
