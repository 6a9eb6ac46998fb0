import type { FileRow } from '../../synced/tables/files.ts'
import type { Deletions } from '../plan.ts'

/** One file that is to be brought to the host. */
export interface UploadJob {
  file: FileRow
  /** The mirror's folder, real path. */
  root: string
  /** Below the root. */
  path: string
  mirror: number
  albumPath: string[]
  deletions: Deletions
  /** Whether the root, and the disks mounted above the file, are still those that were scanned. */
  isSameGround: () => boolean
}
