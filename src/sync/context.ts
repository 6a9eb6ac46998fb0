import type { Disk } from '../local/disk.ts'
import type { FolderResult, FolderToLookAt } from '../local/look.ts'
import type { OpenPicture } from '../local/picture-file.ts'
import type { ImageHost } from '../remote/host.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock, FileAges } from './clock.ts'
import type { HoldPolicy } from './deletions/index.ts'
import type { AlbumContents } from './listing/index.ts'
import type { Tell } from './pass-events.ts'
import type { Allowance } from './quota/index.ts'
import type { VanishedRules } from './scan/index.ts'
import type { IncompletePictures, RecoveryPace } from './uploads/index.ts'

/**
 * What the engine works with. One context is made for the life of the process. A function that needs only parts of the
 * context takes `Pick<EngineContext, 'synced' | 'clock'>`.
 */
export interface EngineContext extends EngineSettings, ProcessMemory {
  synced: Synced
  host: ImageHost
  disk: Disk
  clock: Clock
  /** Milliseconds that albumd has run, over all its starts. A grace counts in this time. */
  running: () => number
  tell: Tell
  openPicture: OpenPictureAt
  /** Looks at the folders of one root, whose path is given. What the looks need, such as threads, goes when `ended` is aborted. */
  lookAt: (root: string, ended: AbortSignal) => LookAtFolders
}

/** What the config says. */
export interface EngineSettings {
  /** How long a picture must be missing, or replaced, before its image is deleted. */
  graceMs: number
  /** How long a picture must be left alone before it is uploaded. */
  settleMs: number
  /** How long a credential may be used (§8). */
  credentialLifetimeMs: number
  concurrency: number
  /** How credentials are asked for: by §4.1, or by §4.3, which knows no album. */
  uploadForm: 'credential' | 'presign'
  /**
   * Which dimensions are declared of a picture that EXIF turns (§4.1). learn: the dimensions that the host has taken before.
   */
  dimensions: 'learn' | 'stored' | 'turned' | 'skip'
  order: 'newest' | 'oldest'
  /** Whether pictures that lie flat are sent into their own albums once the host creates these albums. */
  regroup: 'auto' | 'never'
  hold: HoldPolicy
  /** When a folder is gone: its images are deleted one by one, or its album with one request. */
  albumDeletions: 'one_by_one' | 'recursive'
  allowance: Allowance
}

/** What this process has seen. Nothing of this is recorded, because the next process finds it out again. */
export interface ProcessMemory {
  /** The images in albums. */
  contents: AlbumContents
  /** How long files have been left alone. */
  ages: FileAges
  /** Pictures whose end is missing. */
  incomplete: IncompletePictures
  /** When uploads in doubt were looked for. */
  pace: RecoveryPace
  /** Ignore files that were found gone. */
  vanishedRules: VanishedRules
}

/** Looks at folders, and answers one result for each folder, in the same order. */
export type LookAtFolders = (batch: FolderToLookAt[]) => Promise<FolderResult[]>

/**
 * Opens and hashes the picture at `path` below `root`. Throws PictureFileError when the picture can't be read now, or when
 * `cut` is aborted before the picture was read.
 */
export type OpenPictureAt = (root: string, path: string, cut: AbortSignal) => Promise<OpenPicture>
