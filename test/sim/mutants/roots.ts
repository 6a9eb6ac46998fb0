import { always, but, idle, never, nothing, within } from './by.ts'
import type { Mutant } from './mutant.ts'

/** What the mirrors stand on: roots, mounts, folders. */
export const ROOTS: readonly Mutant[] = [
  {
    name: 'no guard of the root',
    why: 'another folder in the place of the root is taken for the truth',
    seed: 142,
    instead: { 'sync/scan/trust.ts': { mostAreThere: always } },
  },
  {
    name: 'a root that lacks pictures is the one that was',
    why: 'what an older copy of the root lacks is deleted',
    seed: 1_000_000_030,
    instead: {
      'sync/scan/trust.ts': { isRenewed: never },
      'sync/scan/scan.ts': { isAnotherFolder: never },
    },
  },
  {
    name: 'another folder is the one that was',
    why: 'what an older copy of a folder lacks is deleted',
    seed: 1_000_000_031,
    instead: { 'sync/scan/scan.ts': { isAnotherFolder: never } },
  },
  {
    name: 'an older copy may lack what is in doubt',
    why: 'a picture whose upload is found later is deleted',
    seed: 1_000_000_034,
    instead: {
      'sync/scan/trust.ts': {
        isHeld: original => (synced, file) => file.image !== null && original(synced, file),
      },
    },
  },
  {
    name: 'a restore begins too late',
    why: 'what a restore that has just begun would bring back is deleted',
    seed: 1_000_000_414,
    instead: { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isBeingRestored': nothing } },
  },
  {
    name: 'an older version in the root is no loss',
    why: 'an older copy of the root replaces what is newer',
    seed: 1_000_000_059,
    instead: { 'sync/scan/trust.ts': { isOlder: never } },
  },
  {
    name: 'an empty root is trusted',
    why: 'a disk that is not mounted deletes everything',
    seed: 574,
    instead: {
      'sync/scan/trust.ts': {
        checkRoot: original => (disk, synced, mirror) => {
          const check = original(disk, synced, mirror)
          const isIt = check.found?.identity.ino === mirror.ino && check.found?.identity.dev === mirror.dev
          return isIt ? { trusted: true, ...check.found, accepted: false } : check
        },
      },
    },
  },
  {
    name: 'an unknown folder is no doubt',
    why: 'a picture may lie in the folder that can not be read',
    seed: 148,
    instead: {
      'sync/deletions/hold.ts': { doubtAbout: nothing },
      'sync/deletions/last-check.ts': {
        'LastCheck.#doubtOf': original => mirror => original(but(mirror, 'row.guard', null)),
      },
    },
  },
  {
    name: 'a listed folder has no record before its own look',
    why: 'an end between the two looks loses the folder',
    seed: 5,
    instead: { 'sync/scan/scan.ts': within('MirrorScan.#queueNew', 'MirrorScan.#folder', idle) },
  },
  {
    name: 'the root is not looked at before a picture is sent',
    why: 'a picture of another disk is sent',
    seed: 33_760,
    instead: { 'sync/uploads/upload-job.ts': { isSameRoot: always } },
  },
  {
    name: "another mirror's root is not looked at before each deletion",
    why: 'a picture may have gone to the mirror whose root was just replaced',
    seed: 27,
    instead: {
      'sync/deletions/delete-due.ts': {
        deleteOfMirror: original => (context, pass, mirror, _, known) =>
          original(context, pass, mirror, [mirror], known),
      },
    },
  },
  {
    name: 'a mount of the same device is none',
    why: 'a disk that is mounted anew is taken for one that is gone',
    seed: 14_000_004,
    instead: {
      'sync/scan/doubts.ts': {
        isMount: original => (disk, root, path) =>
          original({ lstat: (at: string) => disk.lstat(at), mountPoints: () => new Set() }, root, path),
      },
    },
  },
  {
    name: 'what is mounted is not noticed in the list',
    why: 'what is below a mount of the same device is deleted when that goes',
    seed: 14_001_844,
    instead: { 'sync/scan/doubts.ts': { noticingMounts: () => look => look } },
  },
  {
    name: 'a place that could not be looked at is forgotten',
    why: 'a picture may lie where nobody can look',
    seed: 1_000_000_047,
    instead: {
      'sync/deletions/last-check.ts': {
        whetherThere: original => (disk, path) => (original(disk, path) === 'no' ? 'no' : 'yes'),
      },
    },
  },
  {
    name: 'a guard stays when its cause is over',
    why: 'a disk that is back is mirrored no more',
    seed: 5,
    instead: {
      'synced/tables/mirrors.ts': {
        'openMirrors.guard': original => (id, guard) => guard && original(id, guard),
      },
    },
  },
  {
    name: "a person's word about a root is not heard",
    why: 'what was taken out of it stays on the host for ever',
    seed: 77,
    instead: {
      'synced/tables/mirrors.ts': {
        'openMirrors.accept': original => (id, accept) => accept === 1 || original(id, accept),
      },
    },
  },
  {
    name: 'a folder that lost all its pictures is empty',
    why: 'a disk that fails deletes what it held',
    seed: 1_000_000_012,
    instead: { 'sync/scan/emptied-folders.ts': { MANY: () => Number.POSITIVE_INFINITY } },
  },
  {
    name: 'what vanishes while a folder is looked at vanishes alone',
    why: 'a folder that is emptied meanwhile seems to hold what was met first',
    seed: 1_000_000_009,
    instead: { 'local/look.ts': { LISTINGS: () => 1 } },
  },
  {
    name: 'a disk that is mounted over a folder is its disk',
    why: 'what the disk hides is deleted',
    seed: 1_000_000_320,
    instead: {
      'sync/scan/doubts.ts': { isAnotherDisk: never },
      'sync/scan/scan.ts': { isAnotherFolder: never },
    },
  },
]
