import { always } from './by.ts'
import type { Mutant } from './mutant.ts'

/** What makes a dry run say what the next pass does. */
export const REHEARSING: readonly Mutant[] = [
  {
    name: 'a dry run reads no picture',
    why: 'a picture that was only touched, or moved, is said to be new',
    seed: 600_000_160,
    instead: { 'daemon/engine/rehearsal.ts': { unlikeRecorded: () => always } },
  },
  {
    name: 'a dry run takes each change for a new picture',
    why: 'nobody is told that an old image is to be deleted',
    seed: 600_000_168,
    instead: {
      'daemon/engine/rehearsal.ts': {
        whyUploaded:
          original =>
          (...args) => ({ ...original(...args), operation: 'upload' }),
      },
    },
  },
]
