import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Command } from '../scripts/command-line.ts'
import type { Part } from './part.ts'

type Named = Pick<Part, 'name' | 'about' | 'onlyNamed'>

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'albumd-bench')

export function benchOf(known: readonly Named[]) {
  return {
    name: 'bench',
    about: `albumd beside its peers, as one table of ratios. What is measured is dist/, which is built first. Ends with 1 where
something could not be measured. All parts take about 12 minutes, and more where trees are made first.`,
    operands: {
      word: 'PART',
      kind: 'part of the bench',
      about: 'Parts; where none is named, all that do not take very long:',
      known,
    },
    options: {
      short: { does: 'the short form, which leaves out what takes long' },
      cache: { value: 'FOLDER', usual: CACHE, does: 'keeps there the trees that are made once' },
    },
  } as const satisfies Command
}

/** Those that were named, or all but those that are run only when they are named. */
export function partsOf<Known extends Named>(known: readonly Known[], named: readonly string[]): Known[] {
  return known.filter(({ name, onlyNamed }) => (named.length === 0 ? !onlyNamed : named.includes(name)))
}
