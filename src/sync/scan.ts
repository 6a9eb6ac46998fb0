import type { FolderLook, FolderResult, FolderToLookAt, IgnoreFile, IgnoreRules } from '../local/look.ts'
import type { FileRow } from '../synced/files.ts'
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
  /** Whether the root is still the one that was checked: a disk may go at any moment. */
  sameRoot: () => boolean
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
      scope === 'everything' ? ['', ...this.#known.paths().filter(path => path !== '')] : [...scope].sort()
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
    return { folders: this.#known.paths().length, complete: this.#complete, rootProblem: this.#rootProblem }
  }

  async #lookAndRecord(paths: string[]): Promise<void> {
    const jobs = paths.filter(path => !this.#isClosed(path)).map(path => this.#job(path))
    const results = await this.#parts.look(
      jobs.map(({ path, rules }) => ({ path, rules, digest: this.#known.at(path)?.digest ?? null })),
    )
    if (results.every(result => result.kind === 'same')) return
    await this.#synced.commit(() => {
      // What was seen may have been the empty folder under a disk that is gone.
      if (!this.#parts.sameRoot()) this.#endAt('it was replaced while it was looked at')
      if (this.#rootProblem !== null) return
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
    const ignoreFile = this.#ignoreFileOf(folder, look)
    if ('unreadable' in ignoreFile) {
      this.#withoutRules.add(path)
      const why = `its ignore file can't be relied on (${ignoreFile.unreadable})`
      this.#doubt(folder, 'IGNORE_FILE_UNREADABLE', why)
      return
    }
    const { text } = ignoreFile
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

  /** One that has just vanished would publish what it hid: it is believed gone when it is still gone the next time. */
  #ignoreFileOf(folder: FolderRow, { ignoreFile }: FolderLook): IgnoreFile {
    const vanished = 'text' in ignoreFile && ignoreFile.text === null && folder.ignore_text !== null
    if (!vanished || folder.ignore_gone === 1) return ignoreFile
    this.#synced.folders.ignoreGone(folder.id)
    return { unreadable: 'it was there before; if it is gone for good, the next look goes without it' }
  }

  #recordProblems(folder: number, look: FolderLook): void {
    this.#synced.failures.clearLook(folder)
    for (const { name, code, message } of look.problems)
      this.#synced.failures.put({ folder, name, source: 'look', code, message, next_attempt_at: null })
  }

  #recordFoldersBelow(path: string, look: FolderLook, rulesChanged: boolean): void {
    const listed = new Set(look.folders)
    const aside = new Set(look.aside)
    const renamed = look.problems.some(({ code }) => code === 'NAME_NOT_UTF8')
    for (const name of this.#known.namesIn(path))
      if (!listed.has(name)) this.#recordMissingFolder(pathOf(path, name), renamed || aside.has(name))
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
    const { tell, folder: mirror } = this.#parts
    for (const { kind, file, reason } of changes) {
      tell({ event: 'change_found', mirror, path: pathOf(path, file.name), change: kind, reason })
      this.#synced.failures.clear(file.folder, file.name)
      if (kind === 'gone') this.#recordGone(path, file)
      else this.#recordThere(file)
    }
  }

  #recordGone(path: string, file: FileRow): void {
    const { files, escrow } = this.#synced
    const { mirror, now, running, graceMs } = this.#parts
    if (file.image === null) {
      files.remove(file)
      return
    }
    files.put(file)
    const due_at = running() + graceMs
    const at = pathOf(path, file.name)
    escrow.put({
      image: file.image,
      mirror,
      path: at,
      reason: 'deleted',
      state: 'grace',
      since: now(),
      due_at,
    })
  }

  /** What stood for it is needed again, whatever was to become of it. */
  #recordThere(file: FileRow): void {
    const { files, escrow } = this.#synced
    files.put(file)
    if (file.image === null) return
    escrow.takeBack(file.image)
    files.dropGone(file.image)
  }

  #recordUnknown(path: string, code: string, message: string): void {
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
      const why = `it can't be read (${code}); check its permissions and its disk`
      this.#doubt(this.#folder(path), 'FOLDER_UNREADABLE', why)
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
