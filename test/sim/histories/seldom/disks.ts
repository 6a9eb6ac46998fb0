import type { History } from '../history.ts'
import { at, atStep, HOURLY, IN_BOTH, THREE, TWO_IN_A, TWO_MIRRORS } from '../parts.ts'
import { PLAIN_SETTING } from '../setting.ts'

/** Roots, mounts, folders and rules that come, go and change. */
// biome-ignore format: a history is a row.
export const DISKS: readonly History[] = [
  // The root is another one before its pictures are sent.
  { ...THREE, seed: 1_000_000_212, actions: [atStep(0, 30, 'rootOff', 0, 1), at(1, 'rootOn')] },
  // Another root is in its place, and a person trusts it only when all is over.
  { ...THREE, seed: 1_000_000_213, actions: [at(1, 'rootOff', 0, 1)] },
  // A picture moves to the other mirror, and no quota is left.
  { ...THREE, seed: 1_000_000_224, mirrors: TWO_MIRRORS, files: IN_BOTH,
    actions: [at(1, 'quota'), at(1, 'rename', 0, 272), at(3, 'quotaBack')] },
  // One root is away, and a picture of the other is deleted; then both are away.
  { ...THREE, seed: 1_000_000_225, mirrors: TWO_MIRRORS, files: IN_BOTH,
    actions: [at(1, 'rootOff', 1), at(1, 'remove'), at(2, 'rootOff'), at(3, 'rootOn')] },
  // A folder loses its mount, and its root goes too.
  { ...THREE, seed: 1_000_000_226, mirrors: [{ ...THREE.mirrors[0]!, subMount: true }],
    files: [[0, 1], [2, 2], [18, 3]], actions: [at(1, 'mountOff'), at(1, 'remove'), at(2, 'mountOn')] },
  // A folder can't be read, and its ignore file neither.
  { ...THREE, seed: 1_000_000_243, files: [[0, 1], [1, 2]],
    actions: [at(1, 'folderUnreadable'), at(1, 'remove', 1), at(2, 'readable')] },
  { ...THREE, seed: 1_000_000_244, actions: [at(0, 'ignore'), at(1, 'ignoreFileUnreadable'), at(2, 'readable')] },
  // A folder is hidden, and then deleted.
  { ...HOURLY, seed: 1_000_000_270, hold: THREE.hold, files: [[0, 1], [1, 2]],
    actions: [at(1, 'ignore', 0, 3), at(2, 'removeFolder')] },
  // A folder is swapped for a backup that lacks the folder in it.
  { ...THREE, seed: 1_000_000_271, files: TWO_IN_A,
    actions: [at(0, 'saveCopy', 0, 1), at(1, 'add', 3, 5), at(2, 'olderCopy', 0, 1)] },
  // Another disk is mounted over a folder, and a picture goes elsewhere.
  ...[false, true].map((mountsListed, number) => ({
    ...HOURLY,
    seed: 1_000_000_320 + number,
    setting: { ...PLAIN_SETTING, mountsListed },
    files: [
      [0, 1],
      [2, 2],
    ] as History['files'],
    actions: [at(1, 'mountOver'), at(1, 'remove'), at(2, 'mountOn')],
  })),
  // Pictures get names that are none of a picture, and one gets its name back.
  { ...HOURLY, seed: 1_000_000_322, files: [[0, 1], [16, 2], [1, 3]],
    actions: [at(1, 'nameOddly'), at(1, 'nameOddly', 2, 1), at(2, 'nameOddly', 2), at(3, 'rename', 0, 48)] },
  // A person moves a mirror, whose root may be there, be another one, or be gone.
  { ...HOURLY, seed: 1_000_000_323, actions: [at(1, 'moveMirror'), at(2, 'remove')] },
  ...[1, 0].map(how => ({
    ...HOURLY,
    seed: 1_000_000_325 - how,
    actions: [at(1, 'rootOff', 0, how), at(1, 'moveMirror'), at(2, 'moveMirror'), at(3, 'rootOn')],
  })),
  // The root is another one when a picture is to go, and a disk is mounted below it.
  { ...HOURLY, seed: 1_000_000_326, mirrors: [{ ...THREE.mirrors[0]!, subMount: true }],
    files: [[0, 1], [16, 2], [2, 3]], actions: [at(1, 'remove'), atStep(1, 36, 'rootOff', 0, 1)] },
  // The disk does not tell when a folder was made.
  { ...HOURLY, seed: 1_000_000_327, setting: { ...PLAIN_SETTING, birthTimes: false },
    actions: [at(1, 'remove'), at(2, 'rootOff', 0, 1), at(3, 'rootOn')] },
  // Nobody can read the root any more.
  { ...HOURLY, seed: 1_000_000_328, actions: [at(1, 'rootUnreadable'), at(1, 'remove'), at(2, 'readable')] },
]
