import type { Millis } from '../protocol/clock.ts'
import type { Deletions } from '../records/escrow.ts'
import type { HostFailure } from '../remote/host.ts'
import type { Looks } from './looks.ts'
import { folderAbove } from './tree-path.ts'
import type { UnderWay } from './under-way.ts'

export interface MirrorPolicy {
  /** The mirror's folder as a real path. */
  folder: string
  album: string
  deletions: Deletions
  ignore: readonly string[]
  /** Whether HEICs are pictures here, which are sent as JPEGs. */
  converts?: boolean
  /** Whether the images of pictures that an ignore rule hides are deleted too. */
  pruneIgnored?: boolean
}

/** The folders of a mirror that are scanned, by their paths below its root. */
export type Scope = 'everything' | readonly string[]

/** What a pass does. mirror: everything. retry: sends pictures, and deletes only images whose deletion the host refused before.
 * put: deletes nothing. adopt: links pictures to images that are there, and sends, creates and deletes nothing. look: records
 * what lies on the disk, and does not ask the host, while albumd is paused. */
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
  /** Whether another key is used than before. Left out: no. */
  isKeyNew?: boolean
}

/** A pass under way: its request, and what its steps leave for later steps. */
export interface Pass extends PassRequest {
  scopeOf: (mirror: MirrorPolicy) => Scope
  task: PassTask
  /** When the pass began, by the wall clock. */
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

/** The signals that end work. `stop`: nothing new begins. `cut`: requests under way are broken off too. */
export interface Interruption {
  stop: AbortSignal
  cut: AbortSignal
  /** Ends only the uploads of a pass, because other work is due. */
  pauseUploads?: AbortSignal
  /** Takes what becomes stale during uploads. Left out: a later pass scans it. */
  news?: News
  /** Ends only the deletions of a pass, because something must be scanned first. */
  pauseDeletions?: AbortSignal
  /** Ends everything in a pass except its scans, because a person waits for something else. The next pass does the rest. */
  makeWay?: AbortSignal
}

/** Scans during uploads what becomes stale, so that new pictures need not wait for the slowest upload. */
export interface News {
  /** Asks for another scan of folders of a mirror. */
  add(mirror: string, folders: readonly string[]): void
  /** Scans what its caller calls stale, one call at a time. Null while no uploads are under way. Never rejects. */
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
