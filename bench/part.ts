import type { Tools } from './machine/tools.ts'
import type { SyncedTrees } from './ours/synced-tree.ts'
import type { Figure } from './table/figure.ts'

/** What a part works with. */
export interface Means {
  /** True: the short form, which leaves out what takes long. */
  short: boolean
  /** A folder that is kept from run to run, and one that goes at the end. */
  cache: string
  scratch: string
  tools: Tools
  trees: SyncedTrees
  /** Tells whoever waits what is done now. */
  say(line: string): void
  /** One more line of the table. */
  add(figure: Omit<Figure, 'part'>): void
}

/** A part of the bench, which can be run by its name. */
export interface Part {
  name: string
  measure(means: Means): Promise<void>
}
