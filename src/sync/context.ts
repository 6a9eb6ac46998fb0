import type { Disk } from '../local/disk.ts'
import type { FolderResult, FolderToLookAt } from '../local/look.ts'
import type { OpenPicture } from '../local/picture-file.ts'
import type { Maker } from '../local/sent-picture.ts'
import type { Clock } from '../protocol/clock.ts'
import type { PictureReader } from '../protocol/likeness/likeness.ts'
import type { ImageHost } from '../remote/host.ts'
import type { Synced } from '../synced/synced.ts'
import type { Claims } from './claims.ts'
import type { FileAges } from './clock.ts'
import type { HoldPolicy } from './deletions/index.ts'
import type { AlbumContents } from './listing/index.ts'
import type { Emit } from './pass-events.ts'
import type { Allowance, OtherMachines } from './quota/index.ts'
import type { VanishedRules } from './scan/index.ts'
import type { IncompletePictures, RecoveryPace } from './uploads/index.ts'

/** The records and the clock. A port is a part of the context, for functions that need no more of it. */
export interface RecordPort {
  synced: Synced
  clock: Clock
}

/** The host, and what is recorded of it. */
export interface HostPort {
  synced: Synced
  host: ImageHost
}

/** Pictures, and what the host delivers of them. */
export interface DeliveryPort extends HostPort {
  openPicture: OpenPictureAt
  pictures: PictureReader
}

/** What is needed to find, create and compare albums. */
export interface AlbumPort extends RecordPort, DeliveryPort {
  claims: Claims
  emit: Emit
  /** The unrecorded images of the albums that were looked at. */
  contents: AlbumContents
  /** How long a credential may be used (§8). */
  credentialLifetimeMs: number
}

export interface DiskPort extends RecordPort {
  disk: Disk
}

export interface QuotaPort extends RecordPort {
  allowance: Allowance
  /** Left out: no other machine shares the account. */
  others?: OtherMachines | undefined
}

/** What decides when something happened, and when its image may be deleted. */
export interface GracePort {
  clock: Clock
  /** Milliseconds that albumd has run, over all its starts. The grace of images is measured in this time. */
  running: () => number
  /** How long a picture must be missing, or replaced, before its image is deleted. */
  graceMs: number
}

/** What the engine works with. One context is made for the life of the process. */
export interface EngineContext
  extends AlbumPort,
    DeliveryPort,
    QuotaPort,
    GracePort,
    DiskPort,
    EngineSettings,
    ProcessMemory {
  /** Returns the function that looks at the folders of one root. Its threads end when `ended` is aborted. */
  lookAt: (root: string, ended: AbortSignal) => LookAtFolders
  /** Makes what is sent of a picture. Null: all are sent as they lie there. */
  maker: Maker | null
}

export interface EngineSettings {
  /** How long a picture must be missing, or replaced, before its image is deleted. */
  graceMs: number
  /** The same for many pictures that come together. 0: `graceMs` counts for them too. */
  graceManyMs: number
  /** False for a single `sync`. Its deletions have no grace when they are few, and wait by the wall clock when they are many. */
  isDaemon: boolean
  /** How long a picture must be left alone before it is uploaded. */
  settleMs: number
  /** How long a credential may be used (§8). */
  credentialLifetimeMs: number
  concurrency: number
  /** The form of step 1: §4.1, or §4.3, in which no album can be named. */
  uploadForm: 'credential' | 'presign'
  order: 'newest' | 'oldest'
  hold: HoldPolicy
  allowance: Allowance
}

/** What this process has seen. It is not recorded, because the next process finds it out again. */
export interface ProcessMemory {
  /** The unrecorded images of the albums that were looked at. */
  contents: AlbumContents
  /** How long files have been left alone. */
  ages: FileAges
  /** Pictures whose end is missing. */
  incomplete: IncompletePictures
  /** When each upload in doubt is looked for again. */
  pace: RecoveryPace
  /** Ignore files that a scan found gone a short time ago. */
  vanishedRules: VanishedRules
}

/** Looks at folders. Returns one result for each, in the same order. */
export type LookAtFolders = (batch: FolderToLookAt[]) => Promise<FolderResult[]>

/** Opens and hashes the picture at `path` below `root`. Throws PictureFileError, also when `cut` is aborted. */
export type OpenPictureAt = (root: string, path: string, cut: AbortSignal) => Promise<OpenPicture>
