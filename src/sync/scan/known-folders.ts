import type { IgnoreRules } from '../../local/look.ts'
import type { FolderRow } from '../../synced/tables/folders.ts'
import { folderAbove, foldersAbove, nameOf, pathOf } from '../tree-path.ts'

/** The folders of a mirror that have a record, as a tree. */
export class KnownFolders {
  readonly #byPath = new Map<string, FolderRow>()
  readonly #namesIn = new Map<string, Set<string>>()

  /** Parents before their children, when they were added so. */
  paths(): string[] {
    return [...this.#byPath.keys()]
  }

  at(path: string): FolderRow | undefined {
    return this.#byPath.get(path)
  }

  /** Itself, where it is known, and all below. */
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

  /** The paths of all below one. */
  below(path: string): string[] {
    return this.from(path).flatMap(folder => (folder.path === path ? [] : folder.path))
  }

  /** The rules for what a folder is: those of the config, then of the ignore files above as last looked at. */
  rulesAbove(path: string, ignore: readonly string[]): IgnoreRules[] {
    const rules: IgnoreRules[] = [{ base: '', text: ignore.join('\n') }]
    for (const base of foldersAbove(path)) {
      const text = this.at(base)?.ignore_text
      if (text) rules.push({ base, text })
    }
    return rules
  }

  /** The names of the folders directly in one. */
  namesIn(path: string): string[] {
    return [...(this.#namesIn.get(path) ?? [])]
  }

  add(folder: FolderRow): FolderRow {
    this.#byPath.set(folder.path, folder)
    if (folder.path === '') return folder
    const above = folderAbove(folder.path)
    const names = this.#namesIn.get(above)
    if (names) names.add(nameOf(folder.path))
    else this.#namesIn.set(above, new Set([nameOf(folder.path)]))
    return folder
  }

  remove(path: string): void {
    this.#byPath.delete(path)
    this.#namesIn.get(folderAbove(path))?.delete(nameOf(path))
  }
}
