import { type IgnoreRules, rulesOfConfig } from '../../local/ignore-rules.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { folderAbove, foldersAbove, nameOf, pathOf } from '../tree-path.ts'

/** The recorded folders of a mirror, as a tree. The tree also knows which of these folders the scan must not look at. */
export class KnownFolders {
  readonly #byPath = new Map<string, FolderRow>()
  readonly #namesIn = new Map<string, Set<string>>()
  readonly #missing = new Set<string>()
  readonly #inDoubt = new Set<string>()

  /** The paths of the folders in the order in which they were added: parents before their children. */
  paths(): string[] {
    return [...this.#byPath.keys()]
  }

  at(path: string): FolderRow | undefined {
    return this.#byPath.get(path)
  }

  /** The folder, if it is known, and all known folders below it. */
  from(path: string): FolderRow[] {
    const folders: FolderRow[] = []
    const paths = [path]
    for (let at = paths.pop(); at !== undefined; at = paths.pop()) {
      const folder = this.#byPath.get(at)
      if (folder) folders.push(folder)
      for (const name of this.#namesIn.get(at) ?? []) paths.push(pathOf(at, name))
    }
    return folders
  }

  /** The paths of the known folders below a folder, without absent ones. */
  below(path: string): string[] {
    return this.from(path).flatMap(folder => (folder.path === path || !folder.present ? [] : folder.path))
  }

  /** The rules for a folder: those of the config, then those of the ignore files above it. */
  rulesAbove(path: string, ignore: readonly string[]): IgnoreRules[] {
    const rules = [rulesOfConfig(ignore)]
    for (const base of foldersAbove(path)) {
      const text = this.at(base)?.ignore_text
      if (text) rules.push({ base, text })
    }
    return rules
  }

  /** The names of folders directly in this one that are known, or are missing with known ones below them. */
  namesIn(path: string): string[] {
    return [...(this.#namesIn.get(path) ?? [])]
  }

  add(folder: FolderRow): FolderRow {
    this.#byPath.set(folder.path, folder)
    // The folders above an absent folder may have no record.
    for (let { path } = folder; path !== ''; path = folderAbove(path)) {
      const names = this.#namesIn.get(folderAbove(path)) ?? new Set()
      this.#namesIn.set(folderAbove(path), names)
      if (names.has(nameOf(path))) break
      names.add(nameOf(path))
    }
    return folder
  }

  remove(path: string): void {
    this.#byPath.delete(path)
    this.#namesIn.get(folderAbove(path))?.delete(nameOf(path))
  }

  /** Whether a scan must not look at a folder, because it is missing, or lies below one that is missing or in doubt. */
  isClosed(path: string): boolean {
    if (this.#missing.has(path)) return true
    for (const above of foldersAbove(path))
      if (this.#missing.has(above) || this.#inDoubt.has(above)) return true
    return false
  }

  /** Notes that a folder's parent does not list it. */
  closeMissing(path: string): void {
    this.#missing.add(path)
  }

  /** Notes that a folder's parent lists it. Returns whether the folder was missing before. */
  isBack(path: string): boolean {
    return this.#missing.delete(path)
  }

  closeBelow(path: string): void {
    this.#inDoubt.add(path)
  }

  openBelow(path: string): void {
    this.#inDoubt.delete(path)
  }
}
