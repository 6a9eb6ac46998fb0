import type { Row } from './mutant.ts'

/** What `restore --at` brings back. */
// biome-ignore format: a mutant is a row.
export const PAST: readonly Row[] = [
  [1_100_000_022, 'a file waits since the look, not since the commit',
    'a version that has ended ends once more, and comes back for the time between',
    { 'records/pictures.ts': {
      changed: original => (tx, change, location, moment) =>
        original(tx, { ...change, file: { ...change.file, since: change.file.since ?? moment.now - 3 } }, location, moment),
    } }],
  [1_100_000_020, 'versions have the times of the wall clock',
    'after the clock was set back, what was deleted comes back and what was there does not',
    { 'records/ledger-time.ts': { ledgerNow: () => (_, wall) => wall } }],
]
