import type { Mutant } from './mutant.ts'

/** What keeps pictures that are sent anew into their albums from harm. */
export const REGROUPING: readonly Mutant[] = [
  {
    name: 'what lies flat takes the reserve',
    edits: [
      {
        file: 'sync/uploads/upload-queue.ts',
        find: 'spare > 0 && (asks || quota.spare() > 0)',
        replace: 'quota.left() > 0',
      },
      {
        file: 'sync/uploads/upload-pending.ts',
        find: 'quota.spare() > 0',
        replace: 'quota.left() > 0',
      },
    ],
    why: 'pictures that have an image take the place of new ones',
    seed: 400005186,
  },
  {
    name: 'the pictures of a backup are sent into their albums as well',
    file: 'sync/uploads/upload-pending.ts',
    find: "deletions === 'keep' ? 'deletions: keep' : null",
    replace: "deletions === 'keep' ? null : null",
    why: 'each of them is on the host twice for good',
    seed: 400000802,
  },
  {
    name: 'what lies flat asks for another credential of the reserve',
    file: 'sync/uploads/sender.ts',
    find: 'job.takeSpare?.() === false',
    replace: 'job.takeSpare?.() === null',
    why: 'pictures that have an image take the place of new ones',
    seed: 400_005_326,
  },
  {
    name: 'what lies flat is sent again while its last upload is in doubt',
    file: 'sync/uploads/upload.ts',
    find: "if (this.#wasSent(job, file.hash!)) return { kind: 'waits', message: because('same_bytes_sent') }",
    replace: '',
    why: 'it is in its album twice',
    seed: 400_003_400,
  },
]
