import type { History } from './history.ts'
import { PLAIN_SETTING } from './setting.ts'
import { PLAIN } from './variations.ts'

/** A plain history of three pictures without a grace, a minute between its passes: kept ones say what differs. */
export const THREE: Omit<History, 'seed' | 'actions'> = {
  variations: PLAIN,
  mirrors: [{ album: 'Photos', deletions: 'propagate', mounted: false, subMount: false, bind: false }],
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
  setting: PLAIN_SETTING,
  pauses: [60_000, 60_000, 60_000],
}
