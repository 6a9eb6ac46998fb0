import { drawHistory, type History } from './history.ts'
import { PLAIN } from './variations.ts'

/** Three pictures, of which one is deleted without a grace. */
const DELETION: Omit<History, 'seed' | 'actions'> = {
  variations: PLAIN,
  mirrors: [{ album: 'Photos', deletions: 'propagate', mounted: false, subMount: false }],
  files: [
    [0, 1],
    [16, 2],
    [32, 3],
  ],
  hold: { hold_above: 0.5, hold_min: 20 },
  graceMs: 0,
  albumDeletions: 'one_by_one',
  concurrency: 1,
  order: 'oldest',
  pauses: [60_000, 60_000, 60_000],
}

/**
 * Histories that chance seldom draws, each under a number that no seed has: `--seed` plays them too.
 */
const KEPT: readonly History[] = [
  // A deletion is served and its answer lost; then the file comes back with the same bytes.
  {
    ...DELETION,
    seed: 1_000_000_001,
    actions: [
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'fault', a: 1, b: 2 },
      { pass: 2, step: 0, deed: 'undelete', a: 0, b: 0 },
    ],
  },
  // A picture is served and albumd killed; delivery gives nothing, and every other walk misses the newest image.
  {
    seed: 1_000_000_002,
    variations: { ...PLAIN, delivery: 'nothing', blinks: 'even' },
    mirrors: [{ album: 'Photos', deletions: 'propagate', mounted: false, subMount: false }],
    files: [[0, 1]],
    hold: { hold_above: 0.5, hold_min: 20 },
    graceMs: 0,
    albumDeletions: 'one_by_one',
    concurrency: 1,
    order: 'oldest',
    pauses: [3_700_000, 3_700_000],
    actions: [{ pass: 0, step: 42, deed: 'kill', a: 0, b: 0 }],
  },
  // A deletion is served and its answer lost; it is asked again and refused, and then the file comes back.
  {
    ...DELETION,
    seed: 1_000_000_003,
    actions: [
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'fault', a: 1, b: 0 },
      { pass: 1, step: 0, deed: 'fault', a: 771, b: 0 },
      { pass: 2, step: 0, deed: 'undelete', a: 0, b: 0 },
    ],
  },
]

/** The history of a seed, drawn or kept. */
export function historyOf(seed: number): History {
  return KEPT.find(history => history.seed === seed) ?? drawHistory(seed)
}
