import type { Action, ActionKind, History } from './history.ts'
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
  graceManyMs: 0,
  concurrency: 1,
  order: 'oldest',
  setting: PLAIN_SETTING,
  news: false,
  pauses: [60_000, 60_000, 60_000],
}

/** Somebody does this at the beginning of a pass, or at one of its steps. `a` and `b` choose what it is done to. */
export const at = (pass: number, kind: ActionKind, a = 0, b = 0): Action => atStep(pass, 0, kind, a, b)
export const atStep = (pass: number, step: number, kind: ActionKind, a = 0, b = 0): Action => ({
  pass,
  step,
  kind,
  a,
  b,
})

/** An hour between the passes, and a hold that lets one deletion go. */
export const HOURLY: typeof THREE = {
  ...THREE,
  hold: { hold_above: 1, hold_min: 1 },
  pauses: [3_700_000, 3_700_000, 3_700_000],
}

/** Like `a` of a fault (`host/faults.ts`). */
export const FAULT = {
  sendLost: 0,
  sendLate: 10,
  sendNever: 20,
  sendGarbled: 25,
  deleteNever: 16,
  deleteRefused: 51,
  listRefused: 48,
  deleteLost: 1,
  albumLost: 2,
  albumLate: 12,
  noNode: 49,
  storageFull: 264,
  tooLarge: 769,
  badKey: 1564,
} as const

/** Nobody can tell soon what became of an upload. */
export const SILENT = { ...PLAIN, delivery: 'nothing' as const }

/** The same, and its plan makes no albums. */
export const FLAT = { ...SILENT, without: ['create_album'] as const }

export const TWO_MIRRORS: History['mirrors'] = [
  { ...THREE.mirrors[0]! },
  { ...THREE.mirrors[0]!, album: 'Scans/Old' },
]
/** Two pictures in the first mirror, one in the second. */
export const IN_BOTH: History['files'] = [
  [0, 1],
  [16, 2],
  [256, 3],
]
/** Three pictures in the folder `a`, and two of them. */
export const IN_A: History['files'] = [
  [1, 1],
  [17, 2],
  [33, 3],
]
export const TWO_IN_A = IN_A.slice(0, 2)
