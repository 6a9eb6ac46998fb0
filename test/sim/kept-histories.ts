import { drawHistory, type History } from './history.ts'
import { KEPT_CHECKING } from './kept-checking.ts'
import { PLAIN_SETTING } from './setting.ts'
import { THREE } from './three-pictures.ts'
import { PLAIN } from './variations.ts'

/**
 * Histories that chance seldom draws, each under a number that no seed has: `--seed` plays them too.
 */
const KEPT: readonly History[] = [
  // After days without a pass a picture is deleted, and albumd is killed in the pass that finds it gone.
  {
    ...THREE,
    seed: 1_000_000_021,
    pauses: [5000, 3_700_000],
    actions: [
      ...Array.from({ length: 4 }, () => ({ pass: 1, step: 0, deed: 'wait' as const, a: 99_999, b: 0 })),
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 16, deed: 'kill', a: 0, b: 0 },
    ],
  },
  // A deletion is served and its answer lost; then the file comes back with the same bytes.
  {
    ...THREE,
    seed: 1_000_000_001,
    actions: [
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'fault', a: 1, b: 2 },
      { pass: 2, step: 0, deed: 'undelete', a: 0, b: 0 },
    ],
  },
  // A picture is served and albumd killed; delivery gives nothing, and every other walk misses the newest image.
  {
    ...THREE,
    seed: 1_000_000_002,
    variations: { ...PLAIN, delivery: 'nothing', blinks: 'even' },
    files: [[0, 1]],
    pauses: [3_700_000, 3_700_000],
    actions: [{ pass: 0, step: 42, deed: 'kill', a: 0, b: 0 }],
  },
  // A deletion is served and its answer lost; it is asked again and refused, and then the file comes back.
  {
    ...THREE,
    seed: 1_000_000_003,
    actions: [
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'fault', a: 1, b: 0 },
      { pass: 1, step: 0, deed: 'fault', a: 771, b: 0 },
      { pass: 2, step: 0, deed: 'undelete', a: 0, b: 0 },
    ],
  },
  // Five pictures are found in the afternoon, and may go after midnight: then two are old, and the rest is kept.
  {
    ...THREE,
    seed: 1_000_000_004,
    files: [0, 16, 32, 1, 17].map((place, at) => [place, at]),
    order: 'newest',
    setting: { ...PLAIN_SETTING, hours: { from: 22 * 60, to: 7 * 60 }, limit: 4, reserve: 0.5 },
    actions: [{ pass: 1, step: 0, deed: 'wait', a: 41_000, b: 0 }],
  },
  // A person pauses albumd for ten seconds, and then until further notice.
  {
    ...THREE,
    seed: 1_000_000_005,
    actions: [
      { pass: 0, step: 0, deed: 'pause', a: 1, b: 9 },
      { pass: 0, step: 0, deed: 'pause', a: 0, b: 0 },
    ],
  },
  // A person pauses albumd while it gives up pictures.
  {
    ...THREE,
    seed: 1_000_000_006,
    actions: [
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 28, deed: 'pause', a: 0, b: 0 },
    ],
  },
  // Each picture becomes a folder: nothing is left in the mirror's album.
  {
    ...THREE,
    seed: 1_000_000_008,
    pauses: [60_000, 3_700_000, 3_700_000, 3_700_000],
    actions: Array.from({ length: 3 }, () => ({ pass: 1, step: 0, deed: 'folderForFile', a: 0, b: 0 })),
  },
  // A person keeps the images of two pictures, and one of the pictures comes back.
  {
    ...THREE,
    seed: 1_000_000_007,
    hold: { hold_above: 0, hold_min: 1 },
    actions: [
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 2, step: 0, deed: 'discard', a: 0, b: 0 },
      { pass: 2, step: 0, deed: 'undelete', a: 0, b: 0 },
    ],
  },
  // A folder loses all its many pictures while albumd looks at it: some were met, the others are not there.
  {
    ...THREE,
    seed: 1_000_000_009,
    files: [[1, 1]],
    pauses: [60_000, 60_000, 60_000],
    actions: [
      { pass: 0, step: 0, deed: 'fillFolder', a: 0, b: 2 },
      { pass: 1, step: 11, deed: 'emptyFolder', a: 0, b: 1 },
    ],
  },
  // An ignore file is deleted, and a picture is to go: each pass looks at everything twice.
  {
    ...THREE,
    seed: 1_000_000_010,
    graceMs: 60_000,
    pauses: [60_000, 61_000, 60_000],
    actions: [
      { pass: 0, step: 0, deed: 'ignore', a: 0, b: 1 },
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 2, step: 0, deed: 'unignore', a: 0, b: 0 },
    ],
  },
  // The same, its folder goes too, and is there again between the two looks.
  {
    ...THREE,
    seed: 1_000_000_019,
    graceMs: 60_000,
    pauses: [60_000, 61_000, 60_000],
    actions: [
      { pass: 0, step: 0, deed: 'ignore', a: 1, b: 2 },
      { pass: 1, step: 0, deed: 'remove', a: 0, b: 0 },
      { pass: 2, step: 0, deed: 'unignore', a: 0, b: 0 },
      { pass: 2, step: 0, deed: 'removeFolder', a: 2, b: 0 },
      { pass: 2, step: 8, deed: 'add', a: 13, b: 1 },
    ],
  },
  // The quota is used up when the clock is days ahead; it is asked about again once the clock was set back.
  {
    ...THREE,
    seed: 1_000_000_011,
    setting: { ...PLAIN_SETTING, limit: 3 },
    actions: [
      { pass: 0, step: 0, deed: 'quota', a: 1, b: 0 },
      { pass: 2, step: 0, deed: 'clockJump', a: 3, b: 0 },
      { pass: 2, step: 0, deed: 'clockJump', a: 3, b: 0 },
    ],
  },
  // A folder loses all its many pictures between two passes.
  {
    ...THREE,
    seed: 1_000_000_012,
    actions: [
      { pass: 0, step: 0, deed: 'fillFolder', a: 1, b: 2 },
      { pass: 1, step: 0, deed: 'emptyFolder', a: 0, b: 1 },
    ],
  },
  // A rule hides a picture that is on the host, and nobody asks for more.
  {
    ...THREE,
    seed: 1_000_000_013,
    actions: [{ pass: 1, step: 0, deed: 'ignore', a: 0, b: 0 }],
  },
  // A rule hides a picture, a person gives it up, and takes the rule back in the very last moment.
  {
    ...THREE,
    seed: 1_000_000_014,
    actions: [
      { pass: 1, step: 0, deed: 'ignore', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'prune', a: 0, b: 0 },
      { pass: 1, step: 40, deed: 'unignore', a: 0, b: 0 },
    ],
  },
  // A rule hides a folder, and a person gives up what it holds a pass later.
  {
    ...THREE,
    seed: 1_000_000_015,
    files: [
      [0, 1],
      [3, 2],
    ],
    graceMs: 600_000,
    actions: [
      { pass: 1, step: 0, deed: 'ignore', a: 0, b: 2 },
      { pass: 2, step: 0, deed: 'prune', a: 0, b: 0 },
    ],
  },
  // What albumd has found while it was paused lies under an ignore file that can't be read when it goes on.
  {
    ...THREE,
    seed: 1_000_000_016,
    actions: [
      { pass: 0, step: 0, deed: 'ignore', a: 0, b: 0 },
      { pass: 0, step: 0, deed: 'pause', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'ignoreFileUnreadable', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'resume', a: 0, b: 0 },
    ],
  },
  // A picture is served and the answer garbled; a rule hides it, a person gives up what is hidden, and then it is found.
  {
    ...THREE,
    seed: 1_000_000_018,
    variations: { ...PLAIN, delivery: 'other' },
    files: [[32, 3]],
    actions: [
      { pass: 0, step: 0, deed: 'fault', a: 25, b: 2 },
      { pass: 1, step: 0, deed: 'ignore', a: 0, b: 3 },
      { pass: 1, step: 0, deed: 'prune', a: 0, b: 0 },
    ],
  },
  // The quota is used up, and albumd killed while another picture is still under way.
  {
    ...THREE,
    seed: 1_000_000_022,
    concurrency: 4,
    actions: [
      { pass: 0, step: 0, deed: 'quota', a: 1, b: 0 },
      { pass: 0, step: 57, deed: 'kill', a: 0, b: 2 },
    ],
  },
  // An ignore file is deleted.
  {
    ...THREE,
    seed: 1_000_000_017,
    actions: [
      { pass: 0, step: 0, deed: 'ignore', a: 0, b: 0 },
      { pass: 1, step: 0, deed: 'unignore', a: 0, b: 0 },
    ],
  },
]

/** The history of a seed, drawn or kept. */
export function historyOf(seed: number): History {
  return [...KEPT, ...KEPT_CHECKING].find(history => history.seed === seed) ?? drawHistory(seed)
}
