import type { History } from '../history.ts'
import { at, atStep, HOURLY, IN_BOTH, THREE, TWO_MIRRORS } from '../parts.ts'

/** Roots, mounts, folders and rules that come, go and change. */
export const DISKS: readonly History[] = [
  // The root is another one before its pictures are sent.
  { ...THREE, seed: 1_000_000_212, actions: [atStep(0, 30, 'rootOff', 0, 1), at(1, 'rootOn')] },
  // Another root is in its place, and a person trusts it only when all is over.
  { ...THREE, seed: 1_000_000_213, actions: [at(1, 'rootOff', 0, 1)] },
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
]
