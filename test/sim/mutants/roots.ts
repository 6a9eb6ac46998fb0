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
    instead: { 'sync/scan/trust.ts': { isRenewed: never } },
  },
  {
    name: 'a folder lost what it never held',
    file: 'sync/scan/older-copies.ts',
    find: 'came >= look.changedAt && came <= disk.now()',
    replace: 'came >= look.changedAt && came < 0',
    why: 'what an older copy of a folder lacks is deleted',
    seed: 1_000_000_031,
  },
  {
    name: 'a picture that came at the time of a copy was in it',
    why: 'what came as soon after the copy was made as the disk can tell is deleted',
    file: 'sync/scan/older-copies.ts',
    find: 'came >= look.changedAt',
    replace: 'came > look.changedAt',
    seed: 600014589,
  },
  {
    name: 'an older copy may lack what is in doubt',
    why: 'a picture whose upload is found later is deleted',
    seed: 1_000_000_034,
    instead: {
      'sync/scan/trust.ts': {
        mayBeOnHost: original => (synced, file) => file.image !== null && original(synced, file),
      },
    },
  },
  {
    name: 'only what was sent is known',
    file: 'sync/scan/trust.ts',
    find: "if (state === 'kept' || (state === 'gone' && !isBack)) continue",
    replace: "if (state !== 'synced') continue",
    why: 'what an older copy lacks is deleted where the host refused all that it holds',
    seed: 1_000_000_036,
  },
  {
    name: 'a restore begins too late',
    why: 'what a restore that has just begun would bring back is deleted',
    seed: 1_000_000_414,
    instead: { 'sync/deletions/send-delete.ts': { 'QUESTIONS.isBeingRestored': nothing } },
  },
  {
    name: 'what is in doubt was not recorded',
    file: 'sync/scan/older-copies.ts',
    find: 'synced.journal.openUploads().some(({ since }) => isLater(since))',
    replace: 'synced.journal.openUploads().length < 0',
    why: 'a picture that an older copy lacks is deleted where its upload is all that was recorded since',
    seed: 1_000_000_054,
  },
  {
    name: 'a picture with another name is another picture',
    file: 'sync/scan/trust.ts',
    find: 'for (const file of shown)',
    replace: 'for (const file of [...shown].slice(0, 0))',
    why: 'what an older copy lacks is deleted where all that it holds has other names now',
    seed: 1_000_000_072,
  },
  {
    name: 'what a look does not show is another picture',
    file: 'sync/scan/trust.ts',
    find: 'if (mayBeAt(disk, fullPath(mirror.folder, path), versions)) return true',
    replace: '',
    why: 'what an older copy lacks is deleted where a rule hides all that is known of it',
    seed: 1_000_000_074,
  },
  {
    name: 'what holds no picture is another folder',
    file: 'sync/scan/older-copies.ts',
    find: 'this.#holdsNothing(look, copied) ||',
    replace: '',
    why: 'a backup from before the first picture deletes all of them',
    seed: 1_000_000_038,
  },
  {
    name: 'an empty folder is a picture',
    file: 'sync/scan/older-copies.ts',
    find: 'this.#holdsNothing(look, copied) ||',
    replace: 'look.files.length + look.folders.length === 0 ||',
    why: 'a backup from before the first picture deletes all of them where it holds a folder',
    seed: 1_000_000_062,
  },
  {
    name: 'an older version is no loss',
    file: 'sync/scan/older-copies.ts',
    find: "return kind === 'gone' || this.#isNewerThan(before, file) ? before : null",
    replace: "return kind === 'gone' ? before : null",
    why: 'an older copy replaces what is newer',
    seed: 1_000_000_058,
  },
  {
    name: 'an older version in the root is no loss',
    edits: [
      {
        file: 'sync/scan/trust.ts',
        find: "whetherThere(disk, at) === 'no' || isOlder(disk, at, file.mtime)",
        replace: "whetherThere(disk, at) === 'no'",
      },
      {
        file: 'sync/scan/older-copies.ts',
        find: "return kind === 'gone' || this.#isNewerThan(before, file) ? before : null",
        replace: "return kind === 'gone' ? before : null",
      },
    ],
    why: 'an older copy of the root replaces what is newer',
    seed: 1_000_000_059,
  },
  {
    name: 'a new picture ends the doubt about an older copy',
    file: 'sync/scan/older-copies.ts',
    find: 'lost.length > 0 && (this.#isDoubted(folder) || this.#isOlder(lost, look, folder.path))',
    replace: 'lost.length > 0 && this.#isOlder(lost, look, folder.path)',
    why: 'what the copy lacks is deleted once somebody adds a picture to it',
    seed: 1_000_000_060,
  },
  {
    name: 'what is there again was always there',
    file: 'sync/scan/older-copies.ts',
    find: 'Math.max(imaged * 1000, back, ...sent)',
    replace: 'Math.max(imaged * 1000, ...sent)',
    why: 'a picture that was gone when an older copy was made is deleted, though it had come back',
    seed: 1_000_000_061,
  },
  {
    name: 'a rename ends the doubt about an older copy',
    file: 'sync/scan/older-copies.ts',
    find: 'from.some(below => this.#isDoubted(below))',
    replace: 'this.#isDoubted(folder)',
    why: 'what the copy lacks is deleted once a folder above it gets another name',
    seed: 1_000_000_063,
  },
  {
    name: 'what went with its folder was deleted',
    file: 'sync/scan/older-copies.ts',
    find: 'const isBack = folder',
    replace: 'const isBack = path.length < 0 && folder',
    why: 'what an older copy lacks is deleted where a scan saw that the folder was gone',
    seed: 1_000_000_064,
  },
  {
    name: 'what went with its folder is not known',
    file: 'sync/scan/older-copies.ts',
    find: 'this.#isOlder(lost, look, path, true)',
    replace: 'this.#isOlder(lost, look, path)',
    why: 'an older copy is another folder of the name where a scan saw that the folder was gone',
    seed: 1_000_000_064,
  },
  {
    name: 'a folder that holds an empty folder is another folder',
    file: 'sync/scan/older-copies.ts',
    find: 'if (isMissed(file)) return this.#holdsNothing(look, path)',
    replace: 'if (isMissed(file)) return look.folders.length === 0',
    why: 'what an older copy lacks is deleted where a scan saw an empty folder in its place',
    seed: 1_000_000_073,
  },
  {
    name: 'what went with a folder was all in it',
    file: 'sync/scan/older-copies.ts',
    find: '[folder, ...below].map',
    replace: '[folder, ...below.slice(0, 0)].map',
    why: 'what an older copy lacks is deleted where it lay in a folder below',
    seed: 1_000_000_065,
  },
  {
    name: 'what is taken back is no doubt',
    file: 'sync/scan/older-copies.ts',
    find: 'this.#back.add(from.path)',
    replace: 'this.#back.delete(from.path)',
    why: 'it is judged once more, and what is known lies in a folder that is still to be looked at',
    seed: 1_000_000_067,
  },
  {
    name: 'what went with a folder has no older version',
    file: 'sync/scan/older-copies.ts',
    find: 'return seen ? this.#isNewerThan(file, seen)',
    replace: 'return seen ? file.size < 0',
    why: 'an older copy replaces what is newer where a scan saw that the folder was gone',
    seed: 1_000_000_066,
  },
  {
    name: 'a rule that hides it ends the doubt about an older copy',
    file: 'synced/tables/folders.ts',
    find: 'unknown = iif(@isThere, unknown, NULL)',
    replace: 'unknown = iif(@isThere, NULL, NULL)',
    why: 'what the copy lacks is deleted once the rule is gone',
    seed: 1_000_000_068,
  },
  {
    name: 'another doubt ends the doubt about an older copy',
    file: 'sync/scan/older-copies.ts',
    find: "code === 'FOLDER_OLDER' || !this.#isDoubted(folder)",
    replace: 'code.length > 0 || !this.#isDoubted(folder)',
    why: 'what the copy lacks is deleted once the folder could not be read for a while',
    seed: 1_000_000_071,
  },
  {
    name: 'what a rule hid is not held',
    file: 'sync/scan/older-copies.ts',
    find: 'if (!before || !mayBeOnHost(synced, before)) return null',
    replace: "if (!before || before.state === 'hidden' || !mayBeOnHost(synced, before)) return null",
    why: 'an older copy replaces what is newer once the rule is gone',
    seed: 1_000_000_070,
  },
  {
    name: 'a file with an image has no upload in doubt',
    file: 'sync/scan/older-copies.ts',
    find: 'Math.max(imaged * 1000, back, ...sent)',
    replace: 'Math.max(imaged * 1000, back, ...(image === null ? sent : []))',
    why: 'the older version in a copy replaces the one whose upload is found later',
    seed: 1_000_000_069,
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
    instead: { 'sync/scan/doubts.ts': { isAnotherDisk: never } },
  },
]
