import type { MutationOptions } from '../mutate.ts'

/** Something that reads what comes from outside. */
export interface Target extends MutationOptions {
  /** Small good inputs, from which the others are made. */
  seeds(): Buffer[]
  /** Reads an input. Throws when the reader does something that it must never do. */
  read(input: Buffer): void | Promise<void>
}

/** Ends the reading of an input: the reader broke a promise. */
export function must(kept: boolean, promise: string): asserts kept {
  if (!kept) throw new Error(`broken: ${promise}`)
}
