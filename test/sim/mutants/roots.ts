import type { Mutant } from './mutant.ts'

/** What the mirrors stand on: roots, mounts, folders. */
export const ROOTS: readonly Mutant[] = [
  {
    name: 'no guard of the root',
    edits: [
      {
        file: 'sync/scan/trust.ts',
        find: 'if (mostAreThere(disk, folder, known)) return trusted',
        replace: 'if (known) return trusted',
      },
    ],
    why: 'another folder in the place of the root is taken for the truth',
    seed: 142,
  },
  {
    name: 'an empty root is trusted',
    edits: [
      {
        file: 'sync/scan/trust.ts',
        find: 'if (isIt && !empty && identity.birthtime !== 0) return trusted',
        replace: 'if (isIt) return trusted',
      },
    ],
    why: 'a disk that is not mounted deletes everything',
    seed: 574,
  },
  {
    name: 'an unknown folder is no doubt',
    edits: [
      {
        file: 'sync/deletions/delete-due.ts',
        find: 'const doubt = doubtAbout(synced, mirrors)',
        replace: 'const doubt = null as string | null',
      },
      { file: 'sync/deletions/last-check.ts', find: 'if (row.guard !== null) return row.guard', replace: '' },
    ],
    why: 'a picture may lie in the folder that can not be read',
    seed: 148,
  },
  {
    name: 'a listed folder has no record before its own look',
    edits: [
      {
        file: 'sync/scan/scan.ts',
        find: '      this.#folder(tx, child)\n      this.#queue.push([child])\n',
        replace: '      this.#queue.push([child])\n',
      },
    ],
    why: 'an end between the two looks loses the folder',
    seed: 5,
  },
  {
    name: 'the root is not looked at before a picture is sent',
    edits: [
      {
        file: 'sync/uploads/upload.ts',
        find: 'if (!job.isSameDisk()) return',
        replace: 'if (!job.isSameDisk) return',
      },
    ],
    why: 'a picture of another disk is sent',
    seed: 33_760,
  },
  {
    name: "another mirror's root is not looked at before each deletion",
    edits: [
      {
        file: 'sync/deletions/delete-due.ts',
        find: 'doubt: () => check.doubtOfAny(),',
        replace: 'doubt: () => check.doubt(mirror),',
      },
    ],
    why: 'a picture may have gone to the mirror whose root was just replaced',
    seed: 27,
  },
  {
    name: 'a mount of the same device is none',
    edits: [
      {
        file: 'sync/scan/doubts.ts',
        find: 'disk.lstat(dirname(at)).dev !== dev || disk.mountPoints(root).has(path)',
        replace: 'disk.lstat(dirname(at)).dev !== dev',
      },
    ],
    why: 'a disk that is mounted anew is taken for one that is gone',
    seed: 14_000_004,
  },
  {
    name: 'what is mounted is not noticed in the list',
    edits: [
      {
        file: 'sync/scan/doubts.ts',
        find: "result.kind === 'different' && mounts.has(result.path)",
        replace: "result.kind === 'different' && mounts.has('/')",
      },
    ],
    why: 'what is below a mount of the same device is deleted when that goes',
    seed: 14_001_844,
  },
  {
    name: 'a place that could not be looked at is forgotten',
    edits: [
      {
        file: 'sync/deletions/last-check.ts',
        find: 'if (this.#unseen !== null)',
        replace: 'if (this.#unseen === undefined)',
      },
    ],
    why: 'a picture may lie where nobody can look',
    seed: 14005992,
  },
  {
    name: 'a guard stays when its cause is over',
    edits: [
      {
        file: 'sync/scan/mirror-scans.ts',
        find: 'tx.mirrors.guard(row.id, guard)',
        replace: 'if (guard) tx.mirrors.guard(row.id, guard)',
      },
    ],
    why: 'a disk that is back is mirrored no more',
    seed: 5,
  },
  {
    name: "a person's word about a root is not heard",
    edits: [{ file: 'sync/scan/trust.ts', find: 'tx.mirrors.accept(id, 1)', replace: '' }],
    why: 'what was taken out of it stays on the host for ever',
    seed: 77,
  },
  {
    name: 'a folder that lost all its pictures is empty',
    edits: [
      {
        file: 'sync/scan/emptied-folders.ts',
        find: 'if (look.lost.length < MANY) {',
        replace: 'if (look.lost.length < MANY || path !== undefined) {',
      },
    ],
    why: 'a disk that fails deletes what it held',
    seed: 1_000_000_012,
  },
  {
    name: 'what vanishes while a folder is looked at vanishes alone',
    edits: [
      {
        file: 'local/look.ts',
        find: 'const LISTINGS = 3',
        replace: 'const LISTINGS = 1',
      },
    ],
    why: 'a folder that is emptied meanwhile seems to hold what was met first',
    seed: 1_000_000_009,
  },
]
