import type { History } from '../history.ts'
import { at, atStep, FAULT, HOURLY, SILENT, THREE } from '../parts.ts'
import { PLAIN } from '../variations.ts'

/** Deletions, albums, and audits that mend. */
// biome-ignore format: a history is a row.
export const DELETIONS: readonly History[] = [
  // Two are held: a person lets one go, and the other picture comes back.
  { ...THREE, seed: 1_000_000_218, hold: { hold_above: 0, hold_min: 1 },
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'approveHalf'), at(2, 'undelete', 1)] },
  { ...THREE, seed: 1_000_000_219, graceMs: 600_000, actions: [at(1, 'remove'), at(2, 'undelete')] },
  // A picture is there again while it is given up.
  { ...THREE, seed: 1_000_000_220, actions: [at(1, 'remove'), atStep(1, 28, 'undelete')] },
  // The process is killed while it deletes.
  { ...THREE, seed: 1_000_000_221, actions: [at(1, 'remove'), at(1, 'remove', 1), atStep(1, 37, 'kill')] },
  { ...THREE, seed: 1_000_000_222, actions: [at(1, 'remove'), at(1, 'remove', 1), atStep(1, 50, 'kill')] },
  { ...THREE, seed: 1_000_000_246, actions: [at(1, 'remove'), at(1, 'fault', FAULT.deleteRefused), at(2, 'retry')] },
  // Two are held: one picture comes back, and a person keeps the other image.
  { ...THREE, seed: 1_000_000_247, hold: { hold_above: 0, hold_min: 1 },
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'discard'), at(2, 'undelete')] },
  // Equal bytes have one id, and one of the two pictures goes.
  { ...THREE, seed: 1_000_000_232, variations: { ...PLAIN, oneId: true }, files: [[0, 1], [16, 1]],
    actions: [at(1, 'remove'), at(2, 'keepDeleted'), at(2, 'remove')] },
  // Nothing of ours is left in an album in which another person has put something.
  { ...HOURLY, seed: 1_000_000_231, hold: THREE.hold, files: [[0, 1], [1, 2]],
    actions: [at(1, 'otherUploads', 1, 1), at(1, 'removeFolder'), at(1, 'auditRepair')] },
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
  // Another person deletes the album, and a picture is new.
  { ...THREE, seed: 1_000_000_242, actions: [at(1, 'otherDeletesAlbum'), at(1, 'add', 48, 6)] },
  // The process is killed while it audits.
  { ...HOURLY, seed: 1_000_000_223, actions: [at(1, 'auditRepair'), atStep(1, 18, 'kill')] },
  // An audit does not find the album; a repair deletes nothing, because the host refuses or says nothing.
  { ...HOURLY, seed: 1_000_000_272, actions: [at(1, 'otherDeletesAlbum'), at(1, 'audit')] },
  ...[FAULT.deleteRefused, FAULT.deleteNever].map((fault, number) => ({
    ...HOURLY,
    seed: 1_000_000_273 + number,
    actions: [at(1, 'remove'), at(1, 'keepDeleted'), at(2, 'auditRepair'), atStep(2, 12, 'fault', fault, 2)],
  })),
  // Another person moves images, renames one, or makes an album of theirs in ours; audits meet that.
  ...[
    [at(1, 'add', 17, 5), at(2, 'otherMoves', 0, 1), at(2, 'audit'), at(3, 'auditRepair')],
    [at(1, 'otherMoves', 0, 3), at(1, 'audit'), at(2, 'change', 0, 5)],
    [at(1, 'otherFolder', 0, 3), at(1, 'audit'), at(2, 'removeFolder')],
  ].map((actions, number) => ({ ...HOURLY, seed: 1_000_000_310 + number, actions })),
  // What a repair does not find was sent a moment ago, is listed late, and has no address.
  { ...THREE, seed: 1_000_000_313, variations: { ...SILENT, listLagMs: 300_000, readings: { cdnUrl: 'neither' } },
    actions: [at(0, 'auditRepair'), at(1, 'auditRepair')] },
  // Two albums of one name are there before ours.
  { ...HOURLY, seed: 1_000_000_314, actions: [at(0, 'otherAlbum'), at(0, 'otherAlbum')] },
  // A person keeps the images of two pictures; one picture comes back, and goes again.
  { ...HOURLY, seed: 1_000_000_315, hold: { hold_above: 0, hold_min: 1 }, pauses: [...HOURLY.pauses, 3_700_000],
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'discard'), at(2, 'undelete'), at(3, 'remove'), at(3, 'remove')] },
  // A folder goes, and what was in it is held.
  { ...HOURLY, seed: 1_000_000_316, hold: { hold_above: 0, hold_min: 1 }, files: [[0, 1], [1, 2], [17, 3]],
    actions: [at(1, 'removeFolder')] },
  // The host counts more images than it lists when an audit walks.
  { ...HOURLY, seed: 1_000_000_317, variations: { ...PLAIN, miscounts: true },
    actions: [at(1, 'otherDeletes'), at(1, 'auditRepair'), at(2, 'removeFolder')] },
  // A person gives up what a rule hides, and nobody can read the rule in the very last moment.
  { ...HOURLY, seed: 1_000_000_318,
    actions: [at(1, 'ignore'), at(2, 'prune'), atStep(2, 36, 'ignoreFileUnreadable')] },
]
