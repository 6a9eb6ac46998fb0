// biome-ignore lint/suspicious/noExplicitAny: the mutants name code of all types.
type Any = any

/** Makes what stands in the place of a function or a constant. `self`: of a method, its object. */
export type By = (
  original: Any,
  self: Any,
) => ((...args: Any[]) => unknown) | boolean | number | string | object

/** A protection of the engine, switched off. */
export interface Mutant {
  name: string
  /** What goes wrong without the protection. */
  why: string
  /** A history that shows it, and that holds with the protection. */
  seed: number
  /** By modules below `src/`, what is replaced there, by its name (`withNamed`). */
  instead: Readonly<Record<string, Readonly<Record<string, By>>>>
}

export type Row = readonly [Mutant['seed'], Mutant['name'], Mutant['why'], Mutant['instead']]
