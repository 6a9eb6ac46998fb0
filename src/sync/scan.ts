import type { FolderLook, FolderResult, FolderToLookAt, IgnoreRules } from '../local/look.ts'
import type { FolderRow } from '../synced/folders.ts'
import type { Synced } from '../synced/synced.ts'
import { KnownFolders } from './known-folders.ts'
import type { Tell } from './pass-events.ts'
import { type Deletions, type FileChange, planFolder, planMissingFolder } from './plan.ts'
import { folderAbove, foldersAbove, pathOf } from './tree-path.ts'

/** Looks at folders; answers each in the order given. */
export type LookAtFolders = (batch: FolderToLookAt[]) => Promise<FolderResult[]>

export interface ScanParts {
  synced: Synced
  look: LookAtFolders
  /** The mirror's row. */
  mirror: number
  folder: string
  /** The config's ignore rules. */
  ignore: readonly string[]
  deletions: Deletions
  /** How long a file must be gone before its image goes. */
  graceMs: number
  /** Running time in milliseconds. */
  running: () => number
  /** Milliseconds since 1970. */
  now: () => number
  tell: Tell
}

export interface ScanResult {
  folders: number
  /** False where something could not be read, or the scan was ended early. */
  complete: boolean
  /** Set where the root itself could not be read: then nothing was recorded at all. */
  rootProblem: string | null
}

/** Small enough that memory follows the largest folders, enough that every thread has its next batch waiting. */
const FOLDERS_PER_BATCH = 32
const BATCHES_IN_FLIGHT = 6
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
  readonly #tries = new Map<string, number>()
  readonly #gone = new Set<string>()
  /** Folders whose ignore file can't be read: what lies below is not known to be wanted. */
  readonly #withoutRules = new Set<string>()
  #queue: string[] = []
  #looked = 0
  #complete = true
  #rootProblem: string | null = null

  constructor(parts: ScanParts) {
    this.#parts = parts
    this.#synced = parts.synced
  }

  /** Looks at `scope` and what is new below, or at everything. Parents come before their children. */
  async run(scope: readonly string[] | 'everything', signal: AbortSignal): Promise<ScanResult> {
    for (const folder of this.#synced.folders.ofMirror(this.#parts.mirror)) this.#known.add(folder)
    this.#queue =
      scope === 'everything' ? ['', ...this.#known.paths().filter(path => path !== '')] : [...scope]
    const underWay = new Set<Promise<void>>()
    for (let next = 0; !this.#rootProblem; ) {
      while (next < this.#queue.length && underWay.size < BATCHES_IN_FLIGHT && !signal.aborted) {
        const batch = this.#queue.slice(next, next + FOLDERS_PER_BATCH)
        next += batch.length
        const job = this.#lookAndRecord(batch).finally(() => underWay.delete(job))
        underWay.add(job)
      }
      if (underWay.size === 0) break
      await Promise.race(underWay)
    }
    await Promise.all(underWay)
    if (signal.aborted) this.#complete = false
    return { folders: this.#looked, complete: this.#complete, rootProblem: this.#rootProblem }
  }

  async #lookAndRecord(paths: string[]): Promise<void> {
    const jobs = paths.filter(path => !this.#isClosed(path)).map(path => this.#job(path))
    const results = await this.#parts.look(
      jobs.map(({ path, rules }) => ({ path, rules, digest: this.#known.at(path)?.digest ?? null })),
    )
    this.#looked += results.length
    if (results.every(result => result.kind === 'same')) return
    await this.#synced.commit(() => {
      for (const [at, result] of results.entries()) this.#record(jobs[at]!, result)
    })
  }

  #record(job: Job, result: FolderResult): void {
    if (result.kind === 'same' || this.#isClosed(job.path)) return
    // An ignore file above has changed since the look began.
    if (this.#job(job.path).rulesKey !== job.rulesKey) this.#queue.push(job.path)
    else if (result.kind === 'unknown') this.#recordUnknown(job.path, result.code, result.message)
    else this.#recordLook(job.path, result.digest, result.look)
  }

  #recordLook(path: string, digest: string | null, look: FolderLook): void {
    const { files, folders } = this.#synced
    const folder = this.#folder(path)
    if ('unreadable' in look.ignoreFile) {
      this.#withoutRules.add(path)
      this.#doubt(
        folder,
        'IGNORE_FILE_UNREADABLE',
        `its ignore file can't be read (${look.ignoreFile.unreadable})`,
      )
      return
    }
    const { text } = look.ignoreFile
    const changes = planFolder(
      folder.id,
      files.ofFolder(folder.id),
      look,
      this.#parts.deletions,
      this.#parts.now(),
    )
    this.#apply(path, changes)
    this.#recordProblems(folder.id, look)
    folders.looked(folder.id, digest, text, look.files.length, look.leftOut)
    const rulesChanged = folder.ignore_text !== text
    folder.digest = digest
    folder.ignore_text = text
    this.#recordFoldersBelow(path, look, rulesChanged)
  }

  #recordProblems(folder: number, look: FolderLook): void {
    this.#synced.failures.clearLook(folder)
    for (const { name, code, message } of look.problems)
      this.#synced.failures.put({ folder, name, source: 'look', code, message, next_attempt_at: null })
  }

  #recordFoldersBelow(path: string, look: FolderLook, rulesChanged: boolean): void {
    const listed = new Set(look.folders)
    const aside = new Set(look.aside)
    for (const name of this.#known.namesIn(path))
      if (!listed.has(name)) this.#recordMissingFolder(pathOf(path, name), aside.has(name))
    for (const name of look.folders) {
      const child = pathOf(path, name)
      this.#gone.delete(child)
      if (!this.#known.at(child)) this.#queue.push(child)
    }
    if (rulesChanged)
      for (const known of this.#known.from(path)) if (known.path !== path) this.#queue.push(known.path)
  }

  #recordMissingFolder(path: string, there: boolean): void {
    const { files, folders, failures } = this.#synced
    for (const folder of this.#known.from(path)) {
      const missing = planMissingFolder(
        files.ofFolder(folder.id),
        there,
        this.#parts.deletions,
        this.#parts.now(),
      )
      this.#apply(folder.path, missing)
      failures.clearAll(folder.id)
      folders.gone(folder.id)
      folders.removeIfEmpty(folder.id)
      this.#known.remove(folder.path)
    }
    this.#gone.add(path)
  }

  #apply(path: string, changes: FileChange[]): void {
    const { files, failures, escrow } = this.#synced
    for (const change of changes) {
      const { kind, reason, file } = change
      this.#parts.tell({
        event: 'change_found',
        mirror: this.#parts.folder,
        path: pathOf(path, file.name),
        change: kind,
        reason,
      })
      failures.clear(change.file.folder, change.file.name)
      if (change.kind === 'gone' && change.image === null) files.remove(change.file)
      else files.put(change.file)
      if (change.kind === 'gone' && change.image !== null)
        escrow.put({
          image: change.image,
          mirror: this.#parts.mirror,
          path: pathOf(path, change.file.name),
          reason: 'deleted',
          state: 'grace',
          since: this.#parts.now(),
          due_at: this.#parts.running() + this.#parts.graceMs,
        })
    }
  }

  #recordUnknown(path: string, code: string, message: string): void {
    if (path === '') {
      this.#rootProblem = `${message} (${code})`
      this.#complete = false
      return
    }
    const tries = (this.#tries.get(path) ?? 0) + 1
    this.#tries.set(path, tries)
    if (PASSING.has(code) && tries < TRIES) this.#askParent(path)
    else {
      this.#doubt(
        this.#folder(path),
        'FOLDER_UNREADABLE',
        `it can't be read (${code}); check its permissions and its disk`,
      )
    }
  }

  /** It is not there, so its parent has changed since it was looked at. */
  #askParent(path: string): void {
    const parent = folderAbove(path)
    const row = this.#known.at(parent)
    if (row) row.digest = null
    this.#queue.push(parent, path)
  }

  #doubt(folder: FolderRow, code: string, message: string): void {
    this.#complete = false
    folder.digest = null
    this.#synced.folders.setUnknown(folder.id, message)
    this.#synced.failures.put({
      folder: folder.id,
      name: '',
      source: 'look',
      code,
      message,
      next_attempt_at: null,
    })
  }

  #job(path: string): Job {
    const rules: IgnoreRules[] = [{ base: '', text: this.#parts.ignore.join('\n') }]
    for (const base of foldersAbove(path)) {
      const text = this.#known.at(base)?.ignore_text
      if (text) rules.push({ base, text })
    }
    return { path, rules, rulesKey: rules.map(({ base, text }) => `${base}\0${text}`).join('\0') }
  }

  #folder(path: string): FolderRow {
    return this.#known.at(path) ?? this.#known.add(this.#synced.folders.add(this.#parts.mirror, path))
  }

  /** It is gone, or below what is gone or without rules. */
  #isClosed(path: string): boolean {
    if (this.#gone.has(path)) return true
    for (const above of foldersAbove(path))
      if (this.#gone.has(above) || this.#withoutRules.has(above)) return true
    return false
  }
}
