import { type Action, type ActionKind, byTime, drawHistory, type History } from './history.ts'
import { ALL_KEPT, at, atStep, HOURLY, THREE } from './kept-histories.ts'
import { Random } from './random.ts'
import { PLAIN } from './variations.ts'

/** Like `a` of a fault (`host/virtual-host.ts`). */
const FAULT = {
  sendLost: 0,
  sendLate: 10,
  sendNever: 20,
  deleteLost: 1,
  albumLost: 2,
  albumLate: 12,
  noNode: 49,
  storageFull: 264,
  tooLarge: 769,
  badKey: 1564,
} as const

/** Nobody can tell soon what became of an upload. */
const SILENT = { ...PLAIN, delivery: 'nothing' as const }

const TWO_MIRRORS: History['mirrors'] = [
  { ...THREE.mirrors[0]! },
  { ...THREE.mirrors[0]!, album: 'Scans/Old' },
]
/** Two pictures in the first mirror, one in the second. */
const IN_BOTH: History['files'] = [
  [0, 1],
  [16, 2],
  [256, 3],
]

/** An upload is in doubt, and then something happens. */
const inDoubt = (seed: number, ...then: Action[]): History => ({
  ...THREE,
  seed,
  variations: SILENT,
  actions: [at(0, 'fault', FAULT.sendNever), ...then].sort(byTime),
})

/** Three pictures are on their way at once, and then something happens. */
const underWay = (seed: number, ...then: ActionKind[]): History => ({
  ...THREE,
  seed,
  concurrency: 4,
  actions: then.map((kind, number) => atStep(0, 52, kind, number, 5 + number)),
})

/** A folder goes with its album, and then something happens. */
const withItsAlbum = (seed: number, ...then: Action[]): History => ({
  ...HOURLY,
  seed,
  albumDeletions: 'recursive',
  hold: THREE.hold,
  files: [
    [0, 1],
    [1, 2],
    [17, 3],
  ],
  actions: [at(1, 'removeFolder'), ...then].sort(byTime),
})

/** Histories that bring about what chance draws seldom (`reach/states.ts`). */
export const SELDOM: readonly History[] = [
  inDoubt(1_000_000_201, at(1, 'saveState'), at(2, 'restoreState', 0, 2)),
  inDoubt(1_000_000_202, at(1, 'change', 1, 5), at(2, 'change', 1, 2)),
  inDoubt(1_000_000_203, at(1, 'clockJump', 2), at(2, 'reboot'), at(2, 'clockJump', 3)),
  inDoubt(1_000_000_204, at(1, 'remove', 1), at(2, 'undelete')),
  inDoubt(1_000_000_205, at(1, 'ignore'), at(2, 'prune')),
  inDoubt(1_000_000_206, atStep(1, 12, 'kill'), atStep(2, 12, 'kill')),
  inDoubt(1_000_000_207, at(0, 'fault', FAULT.sendLate), at(1, 'resend', 0)),
  underWay(1_000_000_208, 'kill'),
  underWay(1_000_000_209, 'end'),
  underWay(1_000_000_210, 'pause'),
  underWay(1_000_000_211, 'changeInPlace', 'changeInPlace'),
  // Two pictures are written over while they are read.
  {
    ...THREE,
    seed: 1_000_000_233,
    concurrency: 4,
    actions: [atStep(0, 27, 'changeInPlace', 0, 5), atStep(0, 27, 'changeInPlace', 1, 6)],
  },
  // The root is another one before its pictures are sent.
  { ...THREE, seed: 1_000_000_212, actions: [atStep(0, 30, 'rootOff', 0, 1), at(1, 'rootOn')] },
  // Another root is in its place, and a person trusts it only when all is over.
  { ...THREE, seed: 1_000_000_213, actions: [at(1, 'rootOff', 0, 1)] },
  // The key is refused.
  {
    ...THREE,
    seed: 1_000_000_234,
    actions: [at(0, 'fault', FAULT.badKey), at(1, 'add', 48, 6), at(2, 'retry')],
  },
  // What is sent without an album lands in the default album.
  {
    ...HOURLY,
    seed: 1_000_000_235,
    variations: { ...PLAIN, defaultAlbum: 'Inbox' },
    mirrors: [{ ...THREE.mirrors[0]!, album: '' }],
    actions: [at(1, 'remove')],
  },
  // The process is killed while it makes an album.
  { ...THREE, seed: 1_000_000_236, actions: [atStep(0, 31, 'kill')] },
  // The host has no node for two pictures, and then it has.
  {
    ...THREE,
    seed: 1_000_000_214,
    actions: [at(0, 'fault', FAULT.noNode, 1), at(1, 'fault', FAULT.noNode, 1), at(2, 'retry')],
  },
  // A picture is too large, and the storage is full.
  {
    ...HOURLY,
    seed: 1_000_000_215,
    actions: [
      at(0, 'fault', FAULT.tooLarge),
      at(1, 'fault', FAULT.storageFull),
      at(1, 'add', 48, 6),
      at(2, 'retry'),
    ],
  },
  // The state is lost, and the host tells where it delivers.
  {
    ...THREE,
    seed: 1_000_000_216,
    variations: { ...PLAIN, namesBase: true },
    actions: [at(1, 'loseState', 0, 2), at(2, 'change', 0, 1), at(2, 'add', 48, 6), at(3, 'compareLinks')],
  },
  // The state is lost, nothing can be compared until a person asks for it, and one of the links is wrong.
  {
    ...HOURLY,
    seed: 1_000_000_217,
    variations: { ...PLAIN, cachesAbsence: true },
    actions: [at(1, 'loseState', 0, 2), at(1, 'changeUnseen'), at(1, 'adopt'), at(2, 'compareLinks')],
  },
  // Two are held: a person lets one go, and the other picture comes back.
  {
    ...THREE,
    seed: 1_000_000_218,
    hold: { hold_above: 0, hold_min: 1 },
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'approveHalf'), at(3, 'undelete', 1)],
  },
  { ...THREE, seed: 1_000_000_219, graceMs: 600_000, actions: [at(1, 'remove'), at(2, 'undelete')] },
  // A picture is there again while it is given up.
  { ...THREE, seed: 1_000_000_220, actions: [at(1, 'remove'), atStep(1, 28, 'undelete')] },
  // The process is killed while it deletes.
  { ...THREE, seed: 1_000_000_221, actions: [at(1, 'remove'), at(1, 'remove', 1), atStep(1, 37, 'kill')] },
  { ...THREE, seed: 1_000_000_222, actions: [at(1, 'remove'), at(1, 'remove', 1), atStep(1, 50, 'kill')] },
  // The process is killed while it audits.
  { ...HOURLY, seed: 1_000_000_223, actions: [at(1, 'auditRepair'), atStep(1, 22, 'kill')] },
  // A picture moves to the other mirror, and no quota is left.
  {
    ...THREE,
    seed: 1_000_000_224,
    mirrors: TWO_MIRRORS,
    files: IN_BOTH,
    actions: [at(1, 'quota'), at(1, 'rename', 0, 272), at(3, 'quotaBack')],
  },
  // One root is away, and a picture of the other is deleted; then both are away.
  {
    ...THREE,
    seed: 1_000_000_225,
    mirrors: TWO_MIRRORS,
    files: IN_BOTH,
    actions: [at(1, 'rootOff', 1), at(1, 'remove'), at(2, 'rootOff'), at(3, 'rootOn')],
  },
  // A folder loses its mount, and its root goes too.
  {
    ...THREE,
    seed: 1_000_000_226,
    mirrors: [{ ...THREE.mirrors[0]!, subMount: true }],
    files: [
      [0, 1],
      [2, 2],
      [18, 3],
    ],
    actions: [at(1, 'mountOff'), at(1, 'remove'), at(2, 'mountOn')],
  },
  // The answer to the creation of an album is lost, or the album is made late.
  { ...THREE, seed: 1_000_000_227, actions: [at(0, 'fault', FAULT.albumLost)] },
  { ...THREE, seed: 1_000_000_228, actions: [at(0, 'fault', FAULT.albumLate)] },
  withItsAlbum(1_000_000_229, at(1, 'fault', FAULT.deleteLost)),
  withItsAlbum(1_000_000_230, atStep(1, 40, 'otherUploads', 1, 1)),
  // Nothing of ours is left in an album in which another person has put something.
  {
    ...HOURLY,
    seed: 1_000_000_231,
    hold: THREE.hold,
    files: [
      [0, 1],
      [1, 2],
    ],
    actions: [at(1, 'otherUploads', 1, 1), at(1, 'removeFolder'), at(1, 'auditRepair')],
  },
  // Equal bytes have one id, and one of the two pictures goes.
  {
    ...THREE,
    seed: 1_000_000_232,
    variations: { ...PLAIN, oneId: true },
    files: [
      [0, 1],
      [16, 1],
    ],
    actions: [at(1, 'remove'), at(2, 'keepDeleted'), at(2, 'remove')],
  },
]

export function keptHistory(seed: number): History | undefined {
  return [...ALL_KEPT, ...SELDOM].find(history => history.seed === seed)
}

/** A kept history with other latencies, in half of all cases at other steps, and in half of all with more that happens. */
export function drawBroad(seed: number): History {
  const random = new Random(seed, 11)
  const drawn = drawHistory(seed)
  if (random.chance(0.3)) return drawn
  const kept = random.pick(random.chance(0.6) ? SELDOM : ALL_KEPT)
  const passes = kept.pauses.length
  const shifted = ({ step, ...action }: Action) => ({ ...action, step: step && 1 + random.below(2 * step) })
  const more = drawn.actions.slice(0, 3).map(action => ({ ...action, pass: action.pass % passes }))
  return {
    ...kept,
    seed,
    concurrency: random.pick([kept.concurrency, 2, 4]),
    actions: [
      ...(random.chance(0.5) ? kept.actions : kept.actions.map(shifted)),
      ...(random.chance(0.5) ? more : []),
    ].sort(byTime),
  }
}
