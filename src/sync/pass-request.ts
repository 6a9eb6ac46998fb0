import type { Millis } from '../protocol/clock.ts'
import type { Deletions } from '../records/escrow.ts'
import type { HostFailure } from '../remote/host.ts'
import type { Looks } from './looks.ts'
import { folderAbove } from './tree-path.ts'
import type { UnderWay } from './under-way.ts'

export interface MirrorPolicy {
  /** Real path. */
  folder: string
  album: string
  deletions: Deletions
  ignore: readonly string[]
  /** Whether the images of pictures that an ignore rule hides are deleted like the images of deleted pictures. */
  pruneIgnored?: boolean
}

/** The folders of a mirror that are scanned, by their paths below its root. */
export type Scope = 'everything' | readonly string[]

/** retry: pictures are sent, and only those images deleted whose deletion the host has refused before. put: nothing is deleted.
 * adopt: pictures are linked to images that are there; nothing is sent, created or deleted. look: what lies on the disk is
 * recorded, and the host not asked, while albumd is paused. */
export type PassTask = 'mirror' | 'retry' | 'put' | 'adopt' | 'look'

export interface PassRequest {
  mirrors: readonly MirrorPolicy[]
  interruption: Interruption
  /** Without this function, everything is scanned. */
  scopeOf?: ((mirror: MirrorPolicy) => Scope) | undefined
  /** Without this field, the task is `mirror`. */
  task?: PassTask | undefined
  /** Absolute paths. Only pictures at and below them are sent or deleted. Without this field, all are. */
  named?: ReadonlySet<string> | undefined
  /** Whether the key is another one than was used before. Without this field, it is not. */
  isKeyNew?: boolean
}

/** A pass under way: its request, and what its steps leave for later steps. */
export interface Pass extends PassRequest {
  scopeOf: (mirror: MirrorPolicy) => Scope
  task: PassTask
  /** By the wall clock. */
  began: Millis
  /** The failures of the host that ended uploads or deletions early. */
  stopped: HostFailure[]
  /** The failure that kept albumd from looking for uploads in doubt, or null. */
  notRecovered: HostFailure | null
  looks: Looks
  underWay: UnderWay
}

/** Whether the pass sends or deletes what is at this absolute path. */
export function isNamed(named: PassRequest['named'], path: string): boolean {
  for (let at = path; named && !named.has(at); at = folderAbove(at)) if (at === '') return false
  return true
}

export interface PassReport {
  /** What ended uploads or deletions early, or kept albumd from looking for uploads in doubt. */
  stopped: HostFailure[]
}

/** How work is ended. `stop`: nothing new is begun. `cut`: requests under way are broken off too. */
export interface Interruption {
  stop: AbortSignal
  cut: AbortSignal
  /** Ends only the uploads of a pass, because other work is due. */
  pauseUploads?: AbortSignal
  /** Left out: what becomes stale is scanned by a later pass. */
  news?: News
  /** Ends only the deletions of a pass, because something must be scanned first. */
  pauseDeletions?: AbortSignal
  /** Ends everything in a pass except its scans, because a person waits for something else. The next pass does the rest. */
  makeWay?: AbortSignal
}

/** What becomes stale while a pass uploads, so that new pictures need not wait for the slowest upload. */
export interface News {
  /** Asks for another scan of folders of a mirror. */
  add(mirror: string, folders: readonly string[]): void
  /** Scans what its caller calls stale, one call at a time. Set while uploads are on the way. Never rejects. */
  scan: ((scopeOf: Pass['scopeOf']) => Promise<void>) | null
}

/** The interruption for steps that also end when a person waits for something else (`makeWay`). */
export function endingForOthers({ stop, makeWay, ...rest }: Interruption): Interruption {
  return { ...rest, stop: makeWay ? AbortSignal.any([stop, makeWay]) : stop }
}

/** The interruption for deletions, which may take hours: they also end when new pictures come (`pauseDeletions`). */
export function endingForNews({ pauseDeletions, ...rest }: Interruption): Interruption {
  const ending = endingForOthers(rest)
  return pauseDeletions ? { ...ending, stop: AbortSignal.any([ending.stop, pauseDeletions]) } : ending
}
