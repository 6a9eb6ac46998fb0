import { always, returning } from './by.ts'
import type { Row } from './mutant.ts'

/** What makes a dry run say what the next pass does. */
// biome-ignore format: a mutant is a row.
export const REHEARSING: readonly Row[] = [
  [600_000_160, 'a dry run reads no picture', 'a picture that was only touched, or moved, is said to be new',
    { 'daemon/engine/rehearsal.ts': { unlikeRecorded: () => always } }],
  [450_000_168, 'a dry run takes each change for a new picture', 'nobody is told that an old image is to be deleted',
    { 'daemon/engine/rehearsal.ts': {
      whyUploaded: returning(said => ({ ...said, operation: 'upload' })),
    } }],
]
