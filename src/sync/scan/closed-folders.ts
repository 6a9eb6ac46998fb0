import { foldersAbove } from '../tree-path.ts'

/** The folders that a scan does not look at. */
export class ClosedFolders {
  readonly #missing = new Set<string>()
  readonly #inDoubt = new Set<string>()

  /** It is missing, or lies below what is missing or in doubt. */
  has(path: string): boolean {
    if (this.#missing.has(path)) return true
    for (const above of foldersAbove(path))
      if (this.#missing.has(above) || this.#inDoubt.has(above)) return true
    return false
  }

  /** Its parent does not list it: it is gone, or a mount point whose disk is. */
  isMissing(path: string): void {
    this.#missing.add(path)
  }

  /** Its parent lists it. Answers whether it was missing. */
  isBack(path: string): boolean {
    return this.#missing.delete(path)
  }

  /** What lies below is not known to be wanted, or to be what was there. */
  isInDoubt(path: string): void {
    this.#inDoubt.add(path)
  }

  isCertain(path: string): void {
    this.#inDoubt.delete(path)
  }
}
