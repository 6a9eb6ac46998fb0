import type { TimedRun } from './measure/timed-run.ts'
import type { SyncedTrees } from './ours/synced-tree.ts'
import type { Figure } from './table/figure.ts'
import type { TreeName } from './trees/shape.ts'

/** What a part works with. */
export interface Means {
  /** True: the short form, which leaves out what takes long. */
  short: boolean
  /** A folder that is kept from run to run, and one that goes at the end. */
  cache: string
  scratch: string
  trees: SyncedTrees
  /** What `sync` with nothing to do took, and others beside it, by the tree: a later part need not measure it again. */
  nothingChanged: Map<TreeName, Readonly<Record<string, readonly TimedRun[]>>>
  /** Whether a tool is there. Where it is not, the table's foot says that `what` is left out. */
  has(tool: string, what: string): boolean
  /** Tells whoever waits what is done now. */
  say(line: string): void
  /** One more line of the table. */
  add(figure: Omit<Figure, 'part'>): void
  /** The bench goes on, and ends after this: for what takes minutes and next to no processor. */
  meanwhile(work: Promise<void>): void
}

/** A part of the bench, which can be run by its name. */
export interface Part {
  name: string
  /** What it measures, in a line. */
  about: string
  /** It takes long, so it is run only when it is named. */
  onlyNamed?: true
  measure(means: Means): Promise<void>
}
