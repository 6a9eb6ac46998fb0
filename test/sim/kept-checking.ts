import type { History } from './history.ts'
import { THREE } from './three-pictures.ts'
import { PLAIN } from './variations.ts'

/** An hour between the passes, and a hold that lets one deletion go. */
const HOURLY: typeof THREE = {
  ...THREE,
  hold: { hold_above: 1, hold_min: 1 },
  pauses: [3_700_000, 3_700_000, 3_700_000],
}

/** At the beginning of a pass. */
const at = (pass: number, deed: History['actions'][number]['deed'], a = 0, b = 0) => ({
  pass,
  step: 0,
  deed,
  a,
  b,
})

const SIX: History['files'] = [
  [820549910, 3404832231],
  [439018475, 3600488834],
  [3694184830, 653905941],
  [310797897, 3254723853],
  [2316811202, 2822864516],
  [3566439405, 3139740698],
]

/** Six pictures in the root of a host whose every other walk lacks the newest, and a repair after a reboot. */
const LACKING: Omit<History, 'seed'> = {
  ...HOURLY,
  variations: { ...PLAIN, order: 'shuffled', perPage: 3, without: ['create_album'], blinks: 'even' },
  files: SIX,
  hold: { hold_above: 0.25, hold_min: 2 },
  graceMs: 60_000,
  pauses: [60_000, 1000, 60_000, 1000],
  actions: [at(2, 'reboot'), at(3, 'rename', 2452505682, 1269735668), at(4, 'auditRepair')],
}

/** Histories of audits, and of what people send again; see `kept-histories.ts`. */
export const KEPT_CHECKING: readonly History[] = [
  // Another person deletes an image, and an audit mends it.
  { ...HOURLY, seed: 1_000_000_101, actions: [at(1, 'otherDeletes'), at(1, 'auditRepair')] },
  // Another person uploads an image that looks like one of ours.
  { ...HOURLY, seed: 1_000_000_102, actions: [at(1, 'otherLookAlike', 0, 1), at(1, 'auditRepair')] },
  // The host keeps an image that albumd deletes.
  {
    ...HOURLY,
    seed: 1_000_000_103,
    actions: [at(1, 'keepDeleted'), at(1, 'remove'), at(2, 'auditRepair')],
  },
  // The same, and the root is away when that is to be mended.
  {
    ...HOURLY,
    seed: 1_000_000_104,
    actions: [at(1, 'keepDeleted'), at(1, 'remove'), at(2, 'rootOff'), at(2, 'auditRepair')],
  },
  // It keeps two: more than the hold lets go unasked.
  {
    ...HOURLY,
    seed: 1_000_000_105,
    actions: [at(1, 'keepDeleted', 1), at(1, 'remove'), at(1, 'remove'), at(2, 'auditRepair')],
  },
  // A person pauses albumd while an audit walks, and what it finds is not mended away.
  {
    ...HOURLY,
    seed: 1_000_000_106,
    actions: [
      at(1, 'keepDeleted'),
      at(1, 'remove'),
      at(2, 'auditRepair'),
      { pass: 2, step: 22, deed: 'pause', a: 0, b: 0 },
    ],
  },
  // What every other walk lacks an audit, and the repair after it, both miss.
  { ...LACKING, seed: 1_000_000_124 },
  // The same: a walk that was not whole at once comes between.
  { ...LACKING, seed: 1_000_000_371 },
  // A picture is served and albumd killed; delivery gives nothing, every other walk lacks the newest, and few are whole at once.
  {
    ...HOURLY,
    seed: 1_000_000_161,
    variations: { ...PLAIN, order: 'shuffled', delivery: 'nothing', perPage: 2, blinks: 'even' },
    files: SIX.slice(0, 5),
    hold: THREE.hold,
    actions: [{ pass: 0, step: 141, deed: 'kill', a: 0, b: 0 }],
  },
  // The first picture lands in the default album and is listed late: nobody learns where it is.
  {
    ...HOURLY,
    seed: 1_000_000_108,
    variations: { ...PLAIN, defaultAlbum: 'Inbox', listLagMs: 300_000 },
    mirrors: [{ ...HOURLY.mirrors[0]!, album: '' }],
    files: [[0, 1]],
    actions: [at(1, 'auditRepair')],
  },
  // A listing whose order changes from page to page.
  {
    ...HOURLY,
    seed: 1_000_000_109,
    variations: { ...PLAIN, order: 'shuffled', perPage: 2 },
    files: [0, 16, 32, 48].map((place, version) => [place, version]),
    pauses: Array.from({ length: 40 }, () => 60_000),
    actions: Array.from({ length: 39 }, (_, pass) => at(pass + 1, 'audit')),
  },
  // Where nobody can list, an upload that never arrives stays in doubt until a person has it sent again.
  {
    ...HOURLY,
    seed: 1_000_000_110,
    variations: { ...PLAIN, without: ['list'], delivery: 'nothing' },
    actions: [at(0, 'fault', 20), at(2, 'resend', 1)],
  },
  // After a loss of the state a person wants everything sent again, before it is known what the host has.
  {
    ...HOURLY,
    seed: 1_000_000_111,
    actions: [at(1, 'loseState'), at(1, 'resend'), { pass: 1, step: 1, deed: 'pauseUploads', a: 0, b: 0 }],
  },
  // After a loss of the state two images can be a picture, and nothing tells which.
  {
    ...HOURLY,
    seed: 1_000_000_112,
    variations: { ...PLAIN, delivery: 'nothing' },
    actions: [at(1, 'loseState', 0, 2), at(1, 'otherLookAlike', 0, 1), at(2, 'resend', 1)],
  },
  // An answer is lost; a person has the picture sent again, though it is there.
  {
    ...HOURLY,
    seed: 1_000_000_113,
    variations: { ...PLAIN, delivery: 'nothing' },
    actions: [
      { pass: 0, step: 1, deed: 'fault', a: 0, b: 0 },
      { pass: 0, step: 1, deed: 'resend', a: 1, b: 0 },
      at(2, 'audit'),
    ],
  },
]
