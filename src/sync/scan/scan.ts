import type { FolderLook, FolderResult, IgnoreRules } from '../../local/look.ts'
import { readRemedy } from '../../local/read-remedy.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import type { LookAtFolders } from '../context.ts'
import { type Whereabouts, whereaboutsIn } from '../plan.ts'
import { folderAbove, foldersAbove, pathOf } from '../tree-path.ts'
import type { DoubtCode } from './doubts.ts'
import { EmptiedFolders } from './emptied-folders.ts'
import { FolderRecords, type RecordsParts } from './folder-records.ts'
import { AbsentFolders, ClosedFolders, KnownFolders } from './known-folders.ts'
import { LookQueue } from './look-queue.ts'
import { type MountDoubt, MountDoubts, type MountFacts } from './mounts.ts'
import type { VanishedRules } from './vanished-rules.ts'

export interface ScanParts extends RecordsParts, MountFacts {
  look: LookAtFolders
  /** Whether the root is still the one that was checked: a disk may go at any moment. */
  sameRoot: () => boolean
  /** The config's ignore rules. */
  ignore: readonly string[]
  vanishedRules: VanishedRules
}

export interface ScanResult {
  folders: number
  /** False where something could not be read, or the scan was ended early. */
  complete: boolean
  /** Set where the root itself could not be read: then nothing was recorded at all. */
  rootProblem: string | null
}

/** Not there, or replaced during the look: its parent tells what has become of it. */
const PASSING = new Set(['ENOENT', 'ENOTDIR', 'CHANGED'])
/** How often a folder that its parent still lists, and that is not there, is looked for again. */
const TRIES = 3

type Job = { path: string; rules: IgnoreRules[]; rulesKey: string }

/**
 * One scan of a mirror: looks at folders, compares them with their records, and records what changed.
 * A folder is gone only when its parent was read and does not list it; what can't be read stays as it was.
 */
export class MirrorScan {
  readonly #parts: ScanParts
  readonly #synced: Synced
  readonly #known = new KnownFolders()
  readonly #records: FolderRecords
  readonly #emptied: EmptiedFolders
  readonly #mounts: MountDoubts
  readonly #queue = new LookQueue(batch => this.#lookAndRecord(batch))
  #absent: AbsentFolders | null = null
  readonly #tries = new Map<string, number>()
  readonly #closed = new ClosedFolders()
  #complete = true
  #rootProblem: string | null = null

  constructor(parts: ScanParts) {
    this.#parts = parts
    this.#synced = parts.synced
    this.#records = new FolderRecords(parts)
    this.#emptied = new EmptiedFolders(parts.synced)
    this.#mounts = new MountDoubts(parts, this.#known)
  }

  /** Looks at `scope` and what is new below, or at everything. Parents come before their children. */
  async look(scope: readonly string[] | 'everything', signal: AbortSignal): Promise<void> {
    const { mirror, pruneIgnored } = this.#parts
    for (const folder of this.#synced.folders.ofMirror(mirror)) this.#known.add(folder)
    if (pruneIgnored) this.#absent = new AbsentFolders(this.#synced.folders.absent(mirror), this.#known)
    const everything = () => ['', ...this.#known.paths().filter(path => path !== '')]
    this.#queue.push(scope === 'everything' ? everything() : [...scope].sort())
    await this.#work(signal)
  }

  /** Whether nothing is left that has to wait for the scans of other mirrors. */
  isDecided(): boolean {
    return !this.#emptied.any()
  }

  /**
   * Decides about what could not be decided before everything was looked at, by what the scans of all mirrors have
   * found. `taken`: shared by these scans; see FoundElsewhere.
   */
  async finish(taken: Set<string>, signal: AbortSignal): Promise<ScanResult> {
    while (this.#emptied.any() && this.#rootProblem === null && !signal.aborted) {
      await this.#synced.commit(tx => this.#settleEmptied(tx, taken))
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
    const results = await this.#parts.look(
      jobs.map(({ path, rules }) => ({ path, rules, digest: this.#digest(path) })),
    )
    if (results.every(result => result.kind === 'same')) return
    await this.#synced.commit(tx => {
      if (!this.#isSameRoot()) return
      for (const [at, result] of results.entries()) this.#record(tx, jobs[at]!, result)
    })
  }

  /** What was seen may have been the empty folder under a disk that is gone. */
  #isSameRoot(): boolean {
    if (!this.#parts.sameRoot()) this.#endAt('it was replaced while it was looked at')
    return this.#rootProblem === null
  }

  #digest(path: string): string | null {
    return this.#parts.pruneIgnored ? null : (this.#known.at(path)?.digest ?? null)
  }

  #record(tx: Tx, job: Job, result: FolderResult): void {
    if (result.kind === 'same' || this.#isClosed(job.path)) return
    const unmounted = this.#mounts.lost([...foldersAbove(job.path)])
    if (unmounted) this.#doubtMount(tx, unmounted)
    // An ignore file above has changed since the look began.
    else if (this.#job(job.path).rulesKey !== job.rulesKey) this.#queue.push([job.path])
    else if (result.kind === 'unknown') this.#recordUnknown(tx, job.path, result.code, result.message)
    else this.#recordLook(tx, job.path, result.digest, result.look)
  }

  #recordLook(tx: Tx, path: string, digest: string | null, look: FolderLook): void {
    const folder = this.#folder(tx, path)
    const believed = this.#parts.accepted || folder.accept === 1
    const mount = believed ? null : this.#mounts.seen(folder, look)
    if (mount) {
      this.#doubtMount(tx, mount)
      return
    }
    const rules = this.#parts.vanishedRules
    const ignoreFile = believed ? look.ignoreFile : rules.judge(tx, folder, look)
    if ('unreadable' in ignoreFile) {
      const why = `its ignore file can't be relied on (${ignoreFile.unreadable})`
      this.#doubt(tx, folder, 'IGNORE_FILE_UNREADABLE', why)
      return
    }
    const lost = believed ? [] : this.#records.lostWith(folder, look)
    if (this.#emptied.defer({ folder, digest, look, lost })) this.#queueNew(tx, path, look)
    else this.#believe(tx, folder, digest, look, believed)
  }

  #believe(tx: Tx, folder: FolderRow, digest: string | null, look: FolderLook, believed: boolean): void {
    const { path } = folder
    const text = 'text' in look.ignoreFile ? look.ignoreFile.text : null
    // While it was in doubt nothing below was looked at.
    const lookBelow = folder.ignore_text !== text || folder.unknown !== null
    this.#closed.isCertain(path)
    this.#records.look(tx, folder, digest, text, look)
    this.#recordFoldersBelow(tx, path, look, believed)
    if (lookBelow) this.#queue.push(this.#known.below(path))
  }

  #recordFoldersBelow(tx: Tx, path: string, look: FolderLook, believed: boolean): void {
    const listed = new Set(look.folders)
    const whereabouts = whereaboutsIn(look)
    for (const name of this.#known.namesIn(path))
      if (!listed.has(name)) this.#recordMissingFolder(tx, pathOf(path, name), whereabouts(name), believed)
    for (const name of this.#absent?.namesIn(path) ?? []) {
      const where = listed.has(name) ? 'there' : whereabouts(name)
      if (where === 'ignored') this.#records.prune(tx, pathOf(path, name))
      else if (where === 'gone') this.#pruneGone(tx, pathOf(path, name))
    }
    this.#queueNew(tx, path, look)
  }

  /** Hidden before, it may have been deleted since, or a disk that was mounted at it or below is gone. */
  #pruneGone(tx: Tx, path: string): void {
    const known = this.#parts.accepted ? [] : this.#synced.folders.from(this.#parts.mirror, path)
    const mounts = known.filter(({ mount }) => mount === 1)
    for (const mount of mounts) this.#folder(tx, mount.path)
    const doubt = mounts.length > 0 ? this.#mounts.missing(this.#folder(tx, path)) : null
    if (doubt) this.#doubtMount(tx, doubt)
    else this.#records.prune(tx, path)
  }

  /** Each gets its record with its parent's look: were albumd to end before its own, nothing else would tell of it. */
  #queueNew(tx: Tx, path: string, look: FolderLook): void {
    for (const name of look.folders) {
      const child = pathOf(path, name)
      const isBack = this.#closed.isBack(child)
      if (!isBack && this.#known.at(child)) continue
      this.#folder(tx, child)
      this.#queue.push([child])
    }
  }

  #recordMissingFolder(tx: Tx, path: string, where: Whereabouts, believed: boolean): void {
    this.#closed.isMissing(path)
    const mightHide = where === 'gone' && !believed && this.#known.at(path)?.accept !== 1
    const mount = mightHide ? this.#mounts.missing(this.#folder(tx, path)) : null
    if (mount) {
      this.#doubtMount(tx, mount)
      return
    }
    for (const folder of this.#known.from(path)) {
      this.#parts.vanishedRules.folderGoes(folder)
      this.#records.missing(tx, folder, where)
      this.#known.remove(folder.path)
    }
    if (where === 'ignored' && this.#parts.pruneIgnored) this.#records.prune(tx, path)
  }

  #settleEmptied(tx: Tx, taken: Set<string>): void {
    if (!this.#isSameRoot()) return
    for (const { folder, digest, look, doubt } of this.#emptied.settle(taken, this.#parts.folder)) {
      if (this.#isClosed(folder.path)) continue
      const unmounted = this.#mounts.lost([...foldersAbove(folder.path), folder.path])
      if (unmounted) this.#doubtMount(tx, unmounted)
      else if (doubt === null) this.#believe(tx, folder, digest, look, false)
      else this.#doubt(tx, folder, 'FOLDER_EMPTIED', doubt)
    }
  }

  #recordUnknown(tx: Tx, path: string, code: string, message: string): void {
    if (path === '') {
      this.#endAt(`${message} (${code})`)
      return
    }
    const tries = (this.#tries.get(path) ?? 0) + 1
    this.#tries.set(path, tries)
    const passing = PASSING.has(code)
    if (passing && tries < TRIES) this.#askParent(path)
    // A folder that came and went, or was heard of after its end, leaves no doubt about anything.
    else if (!passing || this.#known.at(path)) {
      const why = `it can't be read (${code}); ${readRemedy(code)}`
      this.#doubt(tx, this.#folder(tx, path), 'FOLDER_UNREADABLE', why)
    }
  }

  /** Nothing more is recorded. */
  #endAt(rootProblem: string): void {
    this.#rootProblem = rootProblem
    this.#complete = false
  }

  /** It is not there, so its parent has changed since it was looked at. */
  #askParent(path: string): void {
    const parent = folderAbove(path)
    const row = this.#known.at(parent)
    if (row) row.digest = null
    this.#queue.push([parent, path])
  }

  #doubtMount(tx: Tx, { folder, why }: MountDoubt): void {
    this.#doubt(tx, folder, 'FOLDER_UNMOUNTED', why)
  }

  #doubt(tx: Tx, folder: FolderRow, code: DoubtCode, message: string): void {
    this.#complete = false
    this.#closed.isInDoubt(folder.path)
    this.#records.doubt(tx, folder, code, message)
  }

  #job(path: string): Job {
    const rules = this.#known.rulesAbove(path, this.#parts.ignore)
    return { path, rules, rulesKey: rules.map(({ base, text }) => `${base}\0${text}`).join('\0') }
  }

  #folder(tx: Tx, path: string): FolderRow {
    return this.#known.at(path) ?? this.#known.add(tx.folders.add(this.#parts.mirror, path))
  }

  #isClosed(path: string): boolean {
    return this.#closed.has(path) || this.#emptied.misses(path)
  }
}
