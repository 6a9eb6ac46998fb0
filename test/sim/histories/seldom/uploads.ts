import { type Action, type ActionKind, byTime, type History } from '../history.ts'
import { at, atStep, FAULT, FLAT, HOURLY, SILENT, THREE } from '../parts.ts'
import { PLAIN_SETTING } from '../setting.ts'
import { PLAIN } from '../variations.ts'

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
  actions: then.map((kind, number) => atStep(0, 55, kind, number, 5 + number)),
})

/** Uploads that are in doubt, that fail, and that something happens to on their way. */
// biome-ignore format: a history is a row.
export const UPLOADS: readonly History[] = [
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
  { ...THREE, seed: 1_000_000_233, concurrency: 4,
    actions: [atStep(0, 27, 'changeInPlace', 0, 5), atStep(0, 27, 'changeInPlace', 1, 6)] },
  inDoubt(1_000_000_245, at(1, 'ignore', 0, 1)),
  // The key is refused.
  { ...THREE, seed: 1_000_000_234, actions: [at(0, 'fault', FAULT.badKey), at(1, 'add', 48, 6), at(2, 'retry')] },
  // The host has no node for any picture, and then it has.
  { ...THREE, seed: 1_000_000_214,
    actions: [...[0, 0, 1, 1].map(pass => at(pass, 'fault', FAULT.noNode, 2)), at(2, 'retry')] },
  // A picture is too large, and the storage is full.
  { ...HOURLY, seed: 1_000_000_215,
    actions: [at(0, 'fault', FAULT.tooLarge), at(1, 'fault', FAULT.storageFull), at(1, 'add', 48, 6), at(2, 'retry')] },
  // An answer is lost, or is none of the interface, or the upload arrives late: delivery tells.
  ...[FAULT.sendLost, FAULT.sendGarbled, FAULT.sendLate].map((fault, number) => ({
    ...THREE,
    seed: 1_000_000_237 + number,
    actions: [at(0, 'fault', fault)],
  })),
  // Pictures change while they are sent.
  { ...THREE, seed: 1_000_000_240, concurrency: 4,
    actions: [0, 1, 2].map(a => atStep(0, 47, 'changeInPlace', a, 5 + a)) },
  // Who writes a picture goes away before its end.
  { ...HOURLY, seed: 1_000_000_241, setting: { ...PLAIN_SETTING, endings: true },
    actions: [at(1, 'writeInPieces', 48, 2)] },
  // A picture is too large for the plan; a day later, or with another plan, the host takes it.
  { ...HOURLY, seed: 1_000_000_248, files: [[0, 1]], pauses: [3_700_000, 90_000_000, 3_700_000],
    actions: [at(1, 'fault', FAULT.tooLarge), at(1, 'add', 48, 3)] },
  { ...HOURLY, seed: 1_000_000_249, files: [[0, 1]],
    actions: [at(1, 'fault', FAULT.tooLarge), at(1, 'add', 48, 3), at(2, 'otherPlan')] },
  // The config tells the day, and the quota is used up.
  { ...HOURLY, seed: 1_000_000_250, setting: { ...PLAIN_SETTING, zone: 'UTC' },
    actions: [at(0, 'quota', 1), at(1, 'quotaBack')] },
  // Nobody tells the day: the quota is used up, and once more on the next day.
  { ...HOURLY, seed: 1_000_000_251, pauses: [3_700_000, 82_800_000, 3_700_000, 3_700_000],
    actions: [at(0, 'quota', 1), at(1, 'quotaBack'), at(2, 'quota'), at(2, 'add', 48, 6), at(3, 'quotaBack')] },
  // An upload under way in a crash is found once its picture is another one.
  ...[0, 1].map(number => ({
    ...HOURLY,
    seed: 1_000_000_278 + number,
    variations: SILENT,
    files: [[0, 1]] as History['files'],
    actions: [atStep(0, 41, 'kill'), atStep(1, 1 + 8 * number, 'change', 0, 5)],
  })),
  // The process is killed while it makes an album.
  { ...THREE, seed: 1_000_000_236, actions: [atStep(0, 31, 'kill')] },
  // The answer to the creation of an album is lost, or the album is made late.
  { ...THREE, seed: 1_000_000_227, actions: [at(0, 'fault', FAULT.albumLost)] },
  { ...THREE, seed: 1_000_000_228, actions: [at(0, 'fault', FAULT.albumLate)] },
  // What is sent without an album lands in the default album.
  { ...HOURLY, seed: 1_000_000_235, variations: { ...PLAIN, defaultAlbum: 'Inbox' },
    mirrors: [{ ...THREE.mirrors[0]!, album: '' }], actions: [at(1, 'remove')] },
  // What is in doubt may be in the default album.
  { ...HOURLY, seed: 1_000_000_277, variations: { ...SILENT, defaultAlbum: 'Inbox' },
    mirrors: [{ ...THREE.mirrors[0]!, album: '' }],
    actions: [at(1, 'add', 48, 6), at(1, 'fault', FAULT.sendLost, 2)] },
  // A proxy refuses pictures that have left whole; or many of which a part has left, and then it takes one.
  { ...HOURLY, seed: 1_000_000_280, variations: SILENT, actions: [at(0, 'turnAway')] },
  { ...HOURLY, seed: 1_000_000_281,
    actions: [at(0, 'fillFolder', 0, 2), ...[1, 1, 1].map(part => at(0, 'turnAway', 11, part))] },
  // Two pictures of one name lie flat, and both are in doubt.
  { ...HOURLY, seed: 1_000_000_282, variations: FLAT, files: [[0, 1], [1, 5]],
    actions: [at(0, 'fault', FAULT.sendLost, 2)] },
  // Room is made for pictures that come much later.
  { ...HOURLY, seed: 1_000_000_283, setting: { ...PLAIN_SETTING, endings: true },
    actions: [at(1, 'reserveRoom', 48), at(1, 'reserveRoom', 1, 1), at(1, 'reserveRoom', 17, 2)] },
  // Uploads are asked for in the form that names no album.
  { ...HOURLY, seed: 1_000_000_284, setting: { ...PLAIN_SETTING, uploadForm: 'presign' },
    mirrors: [{ ...THREE.mirrors[0]!, album: '' }], files: [[0, 1], [1, 2]], actions: [at(1, 'change', 0, 5)] },
  // An upload is in doubt, and another person deletes its album.
  inDoubt(1_000_000_285, at(1, 'otherDeletesAlbum')),
  // The host counts more images than it lists, and something is in doubt.
  { ...HOURLY, seed: 1_000_000_286, variations: { ...SILENT, miscounts: true },
    actions: [at(1, 'add', 48, 6), at(1, 'fault', FAULT.sendLost), at(2, 'auditRepair')] },
  // A newer version is in doubt when another person deletes the older one, which an audit finds.
  { ...HOURLY, seed: 1_000_000_287, variations: SILENT, pauses: [3_700_000, 60_000, 60_000],
    actions: [at(1, 'change', 0, 5), at(1, 'fault', FAULT.sendNever), at(1, 'otherDeletes', 1), at(1, 'auditRepair')] },
  // The host applies EXIF to turned pictures.
  { ...HOURLY, seed: 1_000_000_296, variations: { ...PLAIN, readings: { dimensions: 'turned' } },
    files: [[0, 4], [16, 13]], actions: [at(1, 'add', 33, 22)] },
  // Nobody tells the day, and the quota is used up on days that seem to begin at other hours.
  ...[
    [3_700_000, 82_800_000, 86_400_000, 90_000_000, 3_700_000, 3_700_000],
    [3_700_000, 79_200_000, 3_700_000, 68_400_000, 3_700_000, 3_700_000],
  ].map((pauses, number) => ({
    ...HOURLY,
    seed: 1_000_000_297 + number,
    pauses,
    actions: [
      at(0, 'quota', 1),
      at(1, 'quotaBack'),
      at(2, 'quota'),
      at(2, 'add', 48, 6),
      ...(number === 1 ? [at(3, 'quotaBack'), at(4, 'quota')] : [at(3, 'add', 49, 6)]),
      at(4, 'add', 50, 7),
      at(5, 'quotaBack'),
    ],
  })),
]
