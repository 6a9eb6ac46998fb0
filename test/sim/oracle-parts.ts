import type { HoldPolicy } from '../../src/sync/deletions/hold.ts'
import type { Allowance } from '../../src/sync/quota/quota-state.ts'
import type { MirrorPolicy } from '../../src/sync/scan/mirror-scans.ts'
import type { Looks, Sources } from './disk-port.ts'
import type { Grounds } from './grounds.ts'
import { pathOfAlbum, type TrueImage } from './host-truth.ts'
import type { Pruning } from './pruning.ts'
import type { FindSecret } from './secrecy.ts'
import { split } from './tree.ts'
import type { Variations } from './variations.ts'
import type { VirtualDisk } from './virtual-disk.ts'

export interface OracleParts {
  disk: VirtualDisk
  looks: Looks
  sources: Sources
  mirrors: readonly MirrorPolicy[]
  hold: HoldPolicy
  variations: Variations
  grounds: Grounds
  pruning: Pick<Pruning, 'askedAt' | 'wasGoneBefore'>
  /** True time that albumd ran, in milliseconds. */
  running: () => number
  /** How long a picture must be gone, in running time. */
  graceMs: number
  /** Whether albumd has an image recorded whose bytes were never compared. */
  isLinked: (id: string) => boolean
  /** Whether albumd has begun to delete an image and can't know whether that was done: it is as good as gone. */
  mayBeDeleted: (id: string) => boolean
  /** Whether an image's id is recorded as albumd's own, or as one that it deleted. */
  isOurs: (id: string) => boolean
  /** Why albumd guards a mirror's folder, or null. */
  guardOf: (folder: string) => string | null
  /** Whether a person has paused albumd. */
  isPaused: () => boolean
  /** True time. */
  now: () => number
  /** What albumd has recorded of a picture's place; `image`: the remote id that stands for it. */
  recordOf: (
    path: string,
  ) => { state: string; since: number | null; size: number; image: string | null } | undefined
  allowance: Allowance
  order: 'newest' | 'oldest'
  concurrency: number
  /** The machine's clock. */
  wall: () => number
  findSecret: FindSecret
  /** Whether albums go with all that is in them. */
  wholeAlbums: boolean
}

/**
 * Whether the engine has read the folder and looked at the picture since it came to be as it is. A root is read for its
 * names alone before each deletion.
 */
export function isKnown({ disk, looks }: OracleParts, path: string): boolean {
  const since = disk.changedAt(path)
  return looks.readAt(split(path).folder) > since && looks.statedAt(path) > since
}

/** The mirror that an image belongs to. */
export function mirrorOf({ mirrors }: OracleParts, { source, album }: TrueImage): MirrorPolicy | undefined {
  if (source !== null) return mirrors.find(({ folder }) => source.startsWith(`${folder}/`))
  const path = pathOfAlbum(album)
  return mirrors.find(mirror => mirror.album === '' || `${path}/`.startsWith(`${mirror.album}/`))
}

/** For people. */
export function nameOf(image: TrueImage): string {
  const where = `${pathOfAlbum(image.album)}/${image.name}`
  return `image ${image.id.slice(0, 6)} (${where}${image.by === 'other' ? ', of another person' : ''})`
}
