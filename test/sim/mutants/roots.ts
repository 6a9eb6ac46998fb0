import { always, given, idle, never, nothing, returning, within } from './by.ts'
import type { Row } from './mutant.ts'

/** What the mirrors stand on: roots, mounts, folders. */
// biome-ignore format: a mutant is a row.
export const ROOTS: readonly Row[] = [
  [142, 'no guard of the root', 'another folder in the place of the root is taken for the truth',
    { 'sync/scan/trust.ts': { mostAreThere: always } }],
  [1_000_000_030, 'a root that lacks pictures is the one that was', 'what an older copy of the root lacks is deleted',
    { 'sync/scan/trust.ts': { isRenewed: never }, 'sync/scan/scan.ts': { isAnotherFolder: never } }],
  [1_000_000_031, 'another folder is the one that was', 'what an older copy of a folder lacks is deleted',
    { 'sync/scan/scan.ts': { isAnotherFolder: never } }],
  [1_000_000_033, 'what a folder lacks is nowhere else', 'two folders that change names wait for a person',
    { 'sync/scan/emptied-folders.ts': { foundElsewhere: () => never } }],
  [1_000_000_034, 'an older copy may lack what is in doubt', 'a picture whose upload is found later is deleted',
    { 'sync/scan/trust.ts': { isHeld: returning((isHeld, _, file) => file.image !== null && isHeld) } }],
  [1_000_000_414, 'a restore begins too late', 'what a restore that has just begun would bring back is deleted',
    { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isBeingRestored': nothing } }],
  [1_000_000_059, 'an older version in the root is no loss', 'an older copy of the root replaces what is newer',
    { 'sync/scan/trust.ts': { isOlder: never } }],
  [574, 'an empty root is trusted', 'a disk that is not mounted deletes everything',
    { 'sync/scan/trust.ts': {
      checkRoot: returning((check, _, __, mirror) => {
        const isIt = check.found?.identity.ino === mirror.ino && check.found?.identity.dev === mirror.dev
        return isIt ? { trusted: true, ...check.found, accepted: false } : check
      }),
    } }],
  [148, 'an unknown folder is no doubt', 'a picture may lie in the folder that can not be read',
    { 'sync/deletions/hold.ts': { doubtAbout: nothing },
      'sync/deletions/last-check.ts': { 'LastCheck.#doubtOf': given(0, 'row.guard', null) } }],
  [5, 'a listed folder has no record before its own look', 'an end between the two looks loses the folder',
    { 'sync/scan/scan.ts': within('MirrorScan.#queueNew', 'MirrorScan.#folder', idle) }],
  [33_760, 'the root is not looked at before a picture is sent', 'a picture of another disk is sent',
    { 'sync/uploads/upload-job.ts': { isSameRoot: always } }],
  [27, "another mirror's root is not looked at before each deletion",
    'a picture may have gone to the mirror whose root was just replaced',
    { 'sync/deletions/delete-due.ts': {
      deleteOfMirror: original => (context, pass, mirror, _, known) =>
        original(context, pass, mirror, [mirror], known),
    } }],
  [14_000_004, 'a mount of the same device is none', 'a disk that is mounted anew is taken for one that is gone',
    { 'sync/scan/doubts.ts': {
      isMount: original => (disk, root, path) =>
        original({ lstat: (at: string) => disk.lstat(at), mountPoints: () => new Set() }, root, path),
    } }],
  [14_001_844, 'what is mounted is not noticed in the list',
    'what is below a mount of the same device is deleted when that goes',
    { 'sync/scan/doubts.ts': { noticingMounts: () => look => look } }],
  [1_000_000_047, 'a place that could not be looked at is forgotten', 'a picture may lie where nobody can look',
    { 'sync/deletions/last-check.ts': { whetherThere: returning(is => (is === 'no' ? 'no' : 'yes')) } }],
  [5, 'a guard stays when its cause is over', 'a disk that is back is mirrored no more',
    { 'synced/tables/mirrors.ts': { 'openMirrors.guard': original => (id, guard) => guard && original(id, guard) } }],
  [77, "a person's word about a root is not heard", 'what was taken out of it stays on the host for ever',
    { 'synced/tables/mirrors.ts': {
      'openMirrors.accept': original => (id, accept) => accept === 1 || original(id, accept),
    } }],
  [1_000_000_012, 'a folder that lost all its pictures is empty', 'a disk that fails deletes what it held',
    { 'sync/scan/emptied-folders.ts': { MANY: () => Number.POSITIVE_INFINITY } }],
  [1_000_000_009, 'what vanishes while a folder is looked at vanishes alone',
    'a folder that is emptied meanwhile seems to hold what was met first',
    { 'local/look.ts': { LISTINGS: () => 1 } }],
  [1_000_000_320, 'a disk that is mounted over a folder is its disk', 'what the disk hides is deleted',
    { 'sync/scan/doubts.ts': { isAnotherDisk: never }, 'sync/scan/scan.ts': { isAnotherFolder: never } }],
]
