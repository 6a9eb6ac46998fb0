import { foldersAbove, nameOf } from '../tree-path.ts'
import type { KnownFolders } from './known-folders.ts'

/**
 * The folders that are not scanned and whose pictures still have images: an earlier look found them left out or gone.
 * `absent`: their paths.
 */
export class AbsentFolders {
  readonly #namesIn = new Map<string, Set<string>>()

  constructor(absent: readonly string[], known: KnownFolders) {
    for (const path of absent) {
      const line = [...foldersAbove(path), path]
      const top = line.find(above => !known.at(above))
      if (top === undefined) continue
      const parent = line[line.indexOf(top) - 1] ?? ''
      const names = this.#namesIn.get(parent) ?? new Set()
      this.#namesIn.set(parent, names.add(nameOf(top)))
    }
  }

  /** The names in a folder that is scanned: of such folders, or of those that lead to one. */
  namesIn(path: string): string[] {
    return [...(this.#namesIn.get(path) ?? [])]
  }
}
