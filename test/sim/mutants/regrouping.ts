import type { Mutant } from './mutant.ts'

/** What keeps pictures that are sent anew into their albums from harm. */
export const REGROUPING: readonly Mutant[] = [
  {
    name: 'the pictures of a backup are sent into their albums as well',
    file: 'sync/uploads/upload-pending.ts',
    find: "policy.deletions === 'propagate'",
    replace: "policy.deletions !== 'never'",
    why: 'each of them is on the host twice for good',
    seed: 400000802,
  },
]
