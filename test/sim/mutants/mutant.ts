export interface Edit {
  /** Below `src/`. */
  file: string
  /** Occurs exactly once in it, or the table is wrong. */
  find: string
  replace: string
}

/** A protection of the engine, switched off. */
export interface Mutant {
  name: string
  edits: readonly Edit[]
  /** What goes wrong without the protection. */
  why: string
  /** A history that shows it, and that holds with the protection. */
  seed: number
}
