export interface Edit {
  /** Below `src/`. */
  file: string
  /** Occurs exactly once in it, or the table is wrong. */
  find: string
  replace: string
}

/** A protection of the engine, switched off by one edit or several. */
export type Mutant = (Edit | { edits: readonly Edit[] }) & {
  name: string
  /** What goes wrong without the protection. */
  why: string
  /** A history that shows it, and that holds with the protection. */
  seed: number
}
