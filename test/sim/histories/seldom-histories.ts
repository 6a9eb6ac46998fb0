import { type Action, type ActionKind, byTime, drawHistory, type History } from './history.ts'
import { ALL_KEPT, at, atStep, HOURLY, THREE } from './kept-histories.ts'
import { Random } from './random.ts'
import { PLAIN_SETTING } from './setting.ts'
import { PLAIN } from './variations.ts'

/** Like `a` of a fault (`host/virtual-host.ts`). */
const FAULT = {
  sendLost: 0,
  sendLate: 10,
  sendNever: 20,
  sendGarbled: 25,
  deleteNever: 16,
  deleteRefused: 51,
  listRefused: 48,
  otherDimensions: 50,
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
  // The host has no node for any picture, and then it has.
  {
    ...THREE,
    seed: 1_000_000_214,
    actions: [...[0, 0, 1, 1].map(pass => at(pass, 'fault', FAULT.noNode, 2)), at(2, 'retry')],
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
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'approveHalf'), at(2, 'undelete', 1)],
  },
  { ...THREE, seed: 1_000_000_219, graceMs: 600_000, actions: [at(1, 'remove'), at(2, 'undelete')] },
  // A picture is there again while it is given up.
  { ...THREE, seed: 1_000_000_220, actions: [at(1, 'remove'), atStep(1, 28, 'undelete')] },
  // The process is killed while it deletes.
  { ...THREE, seed: 1_000_000_221, actions: [at(1, 'remove'), at(1, 'remove', 1), atStep(1, 37, 'kill')] },
  { ...THREE, seed: 1_000_000_222, actions: [at(1, 'remove'), at(1, 'remove', 1), atStep(1, 50, 'kill')] },
  // The process is killed while it audits.
  { ...HOURLY, seed: 1_000_000_223, actions: [at(1, 'auditRepair'), atStep(1, 18, 'kill')] },
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
  // An answer is lost, or is none of the interface, or the upload arrives late: delivery tells.
  ...[FAULT.sendLost, FAULT.sendGarbled, FAULT.sendLate].map((fault, number) => ({
    ...THREE,
    seed: 1_000_000_237 + number,
    actions: [at(0, 'fault', fault)],
  })),
  // Pictures change while they are sent.
  {
    ...THREE,
    seed: 1_000_000_240,
    concurrency: 4,
    actions: [0, 1, 2].map(a => atStep(0, 33, 'changeInPlace', a, 5 + a)),
  },
  // Who writes a picture goes away before its end.
  {
    ...HOURLY,
    seed: 1_000_000_241,
    setting: { ...PLAIN_SETTING, endings: true },
    actions: [at(1, 'writeInPieces', 48, 2)],
  },
  // Another person deletes the album, and a picture is new.
  { ...THREE, seed: 1_000_000_242, actions: [at(1, 'otherDeletesAlbum'), at(1, 'add', 48, 6)] },
  // A folder can't be read, and its ignore file neither.
  {
    ...THREE,
    seed: 1_000_000_243,
    files: [
      [0, 1],
      [1, 2],
    ],
    actions: [at(1, 'folderUnreadable'), at(1, 'remove', 1), at(2, 'readable')],
  },
  {
    ...THREE,
    seed: 1_000_000_244,
    actions: [at(0, 'ignore'), at(1, 'ignoreFileUnreadable'), at(2, 'readable')],
  },
  inDoubt(1_000_000_245, at(1, 'ignore', 0, 1)),
  {
    ...THREE,
    seed: 1_000_000_246,
    actions: [at(1, 'remove'), at(1, 'fault', FAULT.deleteRefused), at(2, 'retry')],
  },
  // Two are held: one picture comes back, and a person keeps the other image.
  {
    ...THREE,
    seed: 1_000_000_247,
    hold: { hold_above: 0, hold_min: 1 },
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'discard'), at(2, 'undelete')],
  },
  // A picture is too large for the plan; a day later, or with another plan, the host takes it.
  {
    ...HOURLY,
    seed: 1_000_000_248,
    files: [[0, 1]],
    pauses: [3_700_000, 90_000_000, 3_700_000],
    actions: [at(1, 'fault', FAULT.tooLarge), at(1, 'add', 48, 3), at(2, 'accept'), at(2, 'accept', 1)],
  },
  {
    ...HOURLY,
    seed: 1_000_000_249,
    files: [[0, 1]],
    actions: [at(1, 'fault', FAULT.tooLarge), at(1, 'add', 48, 3), at(2, 'otherPlan')],
  },
  // The config tells the day, and the quota is used up.
  {
    ...HOURLY,
    seed: 1_000_000_250,
    setting: { ...PLAIN_SETTING, zone: 'UTC' },
    actions: [at(0, 'quota', 1), at(1, 'quotaBack')],
  },
  // Nobody tells the day: the quota is used up, and once more on the next day.
  {
    ...HOURLY,
    seed: 1_000_000_251,
    pauses: [3_700_000, 82_800_000, 3_700_000, 3_700_000],
    actions: [at(0, 'quota', 1), at(1, 'quotaBack'), at(2, 'quota'), at(2, 'add', 48, 6), at(3, 'quotaBack')],
  },
  // The state is lost, nothing can be compared, and a picture that was linked changes.
  ...[SILENT, { ...PLAIN, cachesAbsence: true }].map((variations, number) => ({
    ...HOURLY,
    seed: 1_000_000_258 + number,
    pauses: [...HOURLY.pauses, 3_700_000],
    variations,
    actions: [at(1, 'loseState', 0, 2), at(2, 'change', 0, 5), at(2, 'changeUnseen', 1), at(3, 'remove', 1)],
  })),
  // The deletion of an album with all that is in it gets no answer: it was done, or not.
  withItsAlbum(1_000_000_252, at(1, 'fault', FAULT.deleteLost, 2)),
  withItsAlbum(1_000_000_253, at(1, 'fault', FAULT.deleteNever, 2)),
  withItsAlbum(1_000_000_254, at(1, 'fault', FAULT.deleteRefused, 2)),
  // An album that nothing needs is deleted, and that gets no answer; or it is needed again; or another person deletes it.
  ...[
    at(2, 'fault', FAULT.deleteLost, 2),
    at(2, 'fault', FAULT.deleteNever, 2),
    at(2, 'undelete'),
    at(2, 'otherDeletesAlbum', 1),
    at(2, 'fault', FAULT.deleteRefused, 2),
    at(2, 'fault', FAULT.listRefused, 2),
  ].map((then, number) => ({
    ...HOURLY,
    seed: 1_000_000_260 + number,
    hold: THREE.hold,
    pauses: Array.from({ length: 7 }, () => 3_700_000),
    files: [
      [0, 1],
      [1, 2],
    ] as History['files'],
    actions: [at(1, 'removeFolder'), then],
  })),
  // Flat pictures go into their albums, and something goes wrong with that.
  ...[
    at(1, 'quota'),
    at(1, 'fault', FAULT.sendNever, 2),
    at(1, 'fault', FAULT.storageFull, 2),
    at(1, 'fault', FAULT.otherDimensions, 2),
  ].map((then, number) => ({
    ...HOURLY,
    seed: 1_000_000_266 + number,
    variations: { ...SILENT, without: ['create_album'] as const },
    files: [
      [1, 1],
      [2, 2],
    ] as History['files'],
    actions: [at(1, 'planGrows'), then],
  })),
  // A folder is hidden, and then deleted.
  {
    ...HOURLY,
    seed: 1_000_000_270,
    hold: THREE.hold,
    files: [
      [0, 1],
      [1, 2],
    ],
    actions: [at(1, 'ignore', 0, 3), at(2, 'removeFolder')],
  },
  // A folder is swapped for a backup that lacks the folder in it.
  {
    ...THREE,
    seed: 1_000_000_271,
    files: [
      [1, 1],
      [17, 2],
    ],
    actions: [at(0, 'saveCopy', 0, 1), at(1, 'add', 3, 5), at(2, 'olderCopy', 0, 1)],
  },
  // An audit does not find the album; a repair deletes nothing, because the host refuses or says nothing.
  { ...HOURLY, seed: 1_000_000_272, actions: [at(1, 'otherDeletesAlbum'), at(1, 'audit')] },
  ...[FAULT.deleteRefused, FAULT.deleteNever].map((fault, number) => ({
    ...HOURLY,
    seed: 1_000_000_273 + number,
    actions: [at(1, 'remove'), at(1, 'keepDeleted'), at(2, 'auditRepair'), atStep(2, 12, 'fault', fault, 2)],
  })),
  // A picture is linked to its image by name while it has other bytes, and then gets those of the image.
  {
    ...HOURLY,
    seed: 1_000_000_275,
    variations: { ...PLAIN, cachesAbsence: true },
    actions: [at(1, 'changeUnseen'), at(1, 'loseState', 0, 2), at(2, 'restoreOld', 0, 1)],
  },
  // Nobody can list what was sent before the state was lost.
  {
    ...HOURLY,
    seed: 1_000_000_276,
    variations: { ...PLAIN, without: ['list'] },
    actions: [at(1, 'loseState', 0, 2)],
  },
  // What is in doubt may be in the default album.
  {
    ...HOURLY,
    seed: 1_000_000_277,
    variations: { ...SILENT, defaultAlbum: 'Inbox' },
    mirrors: [{ ...THREE.mirrors[0]!, album: '' }],
    actions: [at(1, 'add', 48, 6), at(1, 'fault', FAULT.sendLost, 2)],
  },
  // An upload under way in a crash is found once its picture is another one.
  ...[0, 1].map(number => ({
    ...HOURLY,
    seed: 1_000_000_278 + number,
    variations: SILENT,
    files: [[0, 1]] as History['files'],
    actions: [atStep(0, 41, 'kill'), atStep(1, 1 + 8 * number, 'change', 0, 5)],
  })),
]

/** Other kept histories of states that no seldom one brings about. */
const OTHERS = [1, 2, 3, 4, 7, 16, 30, 32, 33, 101, 103, 105, 112]
/** Those that alone bring a state about. */
const ALONE = [
  ...[1, 2, 30, 105, 112, 201, 203, 204, 206, 209, 210, 212, 214, 215, 216, 218, 219, 220, 223, 224, 225],
  ...[226, 227, 228, 230, 232, 236, 239, 240, 245, 246, 247],
]

const areAmong = (numbers: readonly number[]) =>
  [...ALL_KEPT, ...SELDOM].filter(({ seed }) => numbers.includes(seed - 1_000_000_000))

/** What broad histories mostly begin as. Those that alone bring a state about come twice as often. */
const OFTEN: readonly History[] = [...SELDOM, ...areAmong(OTHERS), ...areAmong(ALONE)]

export function keptHistory(seed: number): History | undefined {
  return [...ALL_KEPT, ...SELDOM].find(history => history.seed === seed)
}

/** A kept history with other latencies, mostly at the same steps, and often with more that happens. */
export function drawBroad(seed: number): History {
  const random = new Random(seed, 11)
  const drawn = drawHistory(seed)
  if (random.chance(0.1)) return drawn
  const kept = random.pick(random.chance(0.85) ? OFTEN : ALL_KEPT)
  const passes = kept.pauses.length
  const shifted = ({ step, ...action }: Action) => ({ ...action, step: step && 1 + random.below(2 * step) })
  const more = drawn.actions.slice(0, 3).map(action => ({ ...action, pass: action.pass % passes }))
  return {
    ...kept,
    seed,
    concurrency: random.pick([kept.concurrency, kept.concurrency, 2, 4]),
    actions: [
      ...(random.chance(0.2) ? kept.actions.map(shifted) : kept.actions),
      ...(random.chance(0.3) ? more : []),
    ].sort(byTime),
  }
}
