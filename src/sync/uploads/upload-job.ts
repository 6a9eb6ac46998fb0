import type { Deletions } from '../../records/escrow.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { AlbumTree } from '../albums/index.ts'
import type { EngineContext } from '../context.ts'
import type { QuotaLedger } from '../quota/index.ts'

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
  isSameDisk: () => boolean
}

/** What is shared by the uploads of one run of the queue. */
export interface UploadRun extends EngineContext {
  only: Only | null
  quota: QuotaLedger
  albums: AlbumTree
}

/**
 * What is done where nothing is sent.
 * adopt: pictures are linked to images that the host holds already, and no album is created.
 * compare: pictures that use an image are compared with it, and the host is not asked.
 */
export type Only = 'adopt' | 'compare'
