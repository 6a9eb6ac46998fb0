import type { PictureBody } from '../../../src/remote/host.ts'
import { isOurs } from '../../../src/sync/audit/audit-repair.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { split } from '../disk/tree.ts'
import { recordedAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { pathOfAlbum, type TrueAlbum, type TrueImage } from '../host/host-truth.ts'
import { isToldByOthers } from './needless.ts'
import { Oracle } from './oracle.ts'

export type Facts = ReturnType<typeof factsOf>

/** The engine has looked at folder and picture since it changed. A root's names are read before each deletion. */
export function isKnown({ disk, looks }: Facts, path: string): boolean {
  const since = disk.changedAt(path)
  return looks.readAt(split(path).folder) > since && looks.statedAt(path) > since
}

export function mirrorOf({ mirrors }: Facts, { source, album }: TrueImage): MirrorPolicy | undefined {
  if (source !== null) return mirrors.find(({ folder }) => source.startsWith(`${folder}/`))
  const path = pathOfAlbum(album)
  return mirrors.find(mirror => mirror.album === '' || `${path}/`.startsWith(`${mirror.album}/`))
}

/** For people. */
export function nameOf(image: TrueImage): string {
  const where = `${pathOfAlbum(image.album)}/${image.name}`
  return `image ${image.id.slice(0, 6)} (${where}${image.by === 'other' ? ', of another person' : ''})`
}

/** What judges ask of a world. `running`: true time that albumd ran. `waited`: by what deletions wait. In milliseconds. */
function factsOf(world: World, running: () => number, waited: () => number) {
  const { disk, looks, sources, mirrors, doubts, pruning, stripping, allowance, machine, pausing, time } =
    world
  const { hold, variations, order, concurrency, graceMs, graceManyMs } = world.history
  const { synced, findSecret } = world.state
  return {
    disk,
    looks,
    sources,
    mirrors,
    doubts,
    pruning,
    stripping,
    allowance,
    findSecret,
    hold,
    variations,
    order,
    concurrency,
    running,
    waited,
    /** How long a picture must be gone, by `waited`. */
    graceMs,
    graceManyMs,
    /** Something goes wrong with a request. */
    hasFaults: world.history.actions.some(({ kind }) => kind === 'fault'),
    /** The machine's clock. */
    wall: machine.wall,
    /** True time. */
    now: () => time.now,
    /** Whether an image's id is recorded as albumd's own, or as one that it deleted. */
    isOurs: (id: string) => isOurs(synced, id),
    /** Why albumd guards a mirror's folder, or null. */
    guardOf(folder: string): string | null {
      const guard = synced.mirrors.of(folder)?.guard
      return guard ? inWords(guard) : null
    },
    isPaused: () => pausing.holdsAt(machine.wall()),
    /** What albumd has recorded of a picture's place; `image`: the remote id that stands for it. */
    recordOf: (path: string) => recordedAt(synced, mirrors, path),
    /** Whether albumd has taken an album for that of another folder, and could not know. */
    isTakenForAnother: (album: TrueAlbum | null) => world.alike.isTaken(album),
    /** Whether albumd has an image recorded whose bytes were never compared. */
    isLinked: (id: string) => synced.images.byRemoteId(id)?.proof === 'none',
    /** Whether two others beside an image, of its type, show what the host makes of them. */
    isToldByOthers: (image: TrueImage) => isToldByOthers(world, image, 2),
    nameFor: (id: string) => synced.images.byRemoteId(id)?.name,
    /** Whether albumd has begun to delete an image and can't know whether that was done: it is as good as gone. */
    mayBeDeleted(id: string): boolean {
      const image = synced.images.byRemoteId(id)
      return image !== undefined && synced.journal.deletionOf(image.id) !== undefined
    },
  }
}

export function oracleOf(world: World, ...times: [running: () => number, waited: () => number]): Oracle {
  return new Oracle(factsOf(world, ...times))
}

/** Called once albumd has heard that the host refuses what it asked for, and has done none of it. */
export type TakeBack = () => void

/** What the oracle is asked before a request leaves that can't be undone, and what it hears of answers. */
export interface Watch {
  imageDeletion(id: string): TakeBack
  albumDeletion(id: string): TakeBack
  /** The host has refused to delete an image or an album. */
  deletionRefused(id: string): void
  /** An album is asked for. Answers the moment up to which those of others are known. */
  albumCreation(): number
  fetched(id: string): void
  /** An upload of a file of this name is asked for. */
  credential(name: string): void
  /** The host does not take the credential for this picture any more. `mayBeKnown`: albumd knows that this may be the reason. */
  credentialTooOld(path: string, mayBeKnown: boolean): void
  /** Answers the path that the picture comes from. */
  sending(picture: PictureBody): string
  readonly quota: QuotaWatch
}

export interface QuotaWatch {
  /** Albumd asks for leave to upload: nothing holds the request back any more. Answers its number. */
  asked(): number
  /** That request's answer has come: the host gives leave, or says that the day's quota is used up. */
  granted(request: number): void
  refused(request: number): void
}
