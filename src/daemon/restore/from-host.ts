import { keyRemedy } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { type Millis, systemClock } from '../../protocol/clock.ts'
import { given } from '../../records/images.ts'
import type { ImageHost } from '../../remote/host.ts'
import { belowBase, deliveryAddresses, type WholeWalk, walkEverything } from '../../sync/listing/index.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { Refused } from '../commands/command.ts'
import { type Access, openHostToAsk } from '../engine/remote.ts'
import { claimWhenFree } from '../state/claim.ts'
import { openClaimed, reading } from '../state/state.ts'
import { recordedImage } from './altered.ts'
import {
  type Due,
  fillFolder,
  type RecordGiven,
  type RestoreEvent,
  type RestoreReport,
  type Source,
} from './restore.ts'
import { safeName, type TargetFolder } from './target-folder.ts'

type ListedImage = WholeWalk['images'][number]

/** Fills an empty folder with all images that the host lists, or goes on with that. Needs no records. Records that exist prove
 * the bytes. No albumd may use the state meanwhile, because both share the rate (§8). Throws Refused, LockedError and
 * StateError. */
export async function restoreFromHost(
  config: Config,
  folder: string,
  access: Access,
  emit: (event: RestoreEvent) => void,
  interruption: Interruption,
  say: (line: string) => void,
): Promise<RestoreReport> {
  const claim = await claimWhenFree(config, { stop: interruption.stop, say })
  const recordGiven: RecordGiven = async restored => {
    const { synced, close } = openClaimed(config, claim, say)
    try {
      await synced.commit(tx => given(tx, restored))
    } finally {
      close()
    }
  }
  try {
    return await reading(config, synced => {
      const open = (target: TargetFolder) =>
        listedImages(config, access, synced, target, emit, interruption.stop)
      const request = { folder, mirrors: 'all that the host lists', ca: access.ca, recordGiven } as const
      return fillFolder(config, request, open, emit, interruption)
    })
  } finally {
    claim.release()
  }
}

async function listedImages(
  config: Config,
  access: Access,
  synced: Synced,
  target: TargetFolder,
  emit: (event: RestoreEvent) => void,
  stop: AbortSignal,
): Promise<Source> {
  const { walk, base } = await listAll(config, access, stop)
  const { paths, renamed } = placed(walk, await target.paths(), target.foldNames())
  for (const { path, to } of renamed) emit({ event: 'picture_renamed', path, to })
  await target.keepPaths(paths)
  const built = deliveryAddresses(synced)
  const dueOf = (image: ListedImage, to: string): Due => {
    const recorded = synced.images.byRemoteId(image.id)
    const isProof = recorded !== undefined && recorded.proof !== 'none'
    const url = recorded?.cdn_url ?? built(image.id, image.name ?? '') ?? (base && belowBase(base, image.id))
    // The listing tells only when the image was uploaded. The record of a file with these bytes tells the picture's own time.
    const file =
      isProof && synced.files.onImage(recorded.id).find(({ hash }) => synced.images.isOf(recorded, hash))
    const ms = timeOf(image) ?? (isProof ? recorded.recorded_at : null)
    const picture = {
      to,
      url,
      known: isProof
        ? { size: recorded.size, sha256: recorded.hash, image: recordedImage(synced, recorded) }
        : { listed: image },
      mtime: file ? file.mtime : ms && ms * 1000,
      note: isProof ? ('proved' as const) : ('unproved' as const),
    }
    return { shown: { path: to, to }, picture }
  }
  return {
    pictures: walk.images.length,
    bytes: null,
    *due() {
      for (const image of walk.images) yield dueOf(image, paths.get(image.id)!)
    },
    noAddress: 'its delivery address is not known: the listing names no base',
    noImage: { code: 'NOT_ON_HOST', message: 'it is not on the host' },
    doubt: walk.settled
      ? null
      : "the host's listing kept changing while it was read; run the same command again",
  }
}

/** Walks the whole account. `base`: where the host delivers, as the listings name it. Throws Refused. */
async function listAll(
  config: Config,
  access: Access,
  stop: AbortSignal,
): Promise<{ walk: WholeWalk; base: string | null }> {
  // An earlier process may have sent requests until now, so this one waits for as long as the rate limit demands.
  const remote = await openHostToAsk(config, access, systemClock.monotonic(), {
    concurrency: config.uploads.concurrency,
    patience: { attempts: 5, maxDelayMs: 10_000 },
  })
  let base: string | null = null
  const list: ImageHost['list'] = async (...question) => {
    const listed = await remote.list(...question)
    if (listed.ok) base = listed.value.cdn_base_url ?? base
    return listed
  }
  try {
    const walk = await walkEverything({ list }, stop)
    if (!walk.ok) {
      const { remedy, message } = walk.failure
      if (stop.aborted) throw new Refused('LEFT', 'Stopped before the host had told what it holds')
      const code = remedy === 'key' || remedy === 'plan' ? 'HOST_REFUSED' : 'LEFT'
      const next = remedy === 'key' ? `; ${keyRemedy(config, process.env)}` : ''
      throw new Refused(code, `The host could not be asked what it holds: ${inWords(message)}${next}`)
    }
    return { walk: walk.value, base }
  } finally {
    await remote.close()
  }
}

/** The path of each image. Where several images would have one path, all but the newest get their id into their names. `before`:
 * the paths of an earlier run, whose files may be on the disk. `fold`: returns the same text for paths that are one on the disk.
 * `renamed`: the images with an id in their names, and the path that each would have had. */
export function placed(
  { albums, images }: Pick<WholeWalk, 'albums' | 'images'>,
  before: ReadonlyMap<string, string>,
  fold: (path: string) => string,
): { paths: Map<string, string>; renamed: { path: string; to: string }[] } {
  const byId = new Map(albums.map(album => [album.id, album]))
  const folders = new Map<string | null, string>([[null, '']])
  const folderOf = (id: string | null): string => {
    const known = folders.get(id)
    if (known !== undefined) return known
    const { parent, name } = byId.get(id!)!
    const folder = pathOf(folderOf(parent), safeName(name))
    folders.set(id, folder)
    return folder
  }
  const paths = new Map(before)
  const renamed: { path: string; to: string }[] = []
  const taken = new Set([...[...byId.keys()].map(folderOf), ...paths.values()].map(fold))
  for (const image of images.toSorted(newestFirst)) {
    if (paths.has(image.id)) continue
    const name = image.name || '_'
    const named = (addition: string) => pathOf(folderOf(image.album), safeName(name, addition))
    let path = named('')
    // The name with the id may be taken too, by an image that is listed with this very name.
    for (let tries = 1; taken.has(fold(path)); tries++)
      path = named(tries === 1 ? ` (${image.id})` : ` ${tries} (${image.id})`)
    taken.add(fold(path))
    paths.set(image.id, path)
    if (path !== named('')) renamed.push({ path: named(''), to: path })
  }
  return { paths, renamed }
}

/** The order of images, the newest first. Images with the same time, or without one, are ordered by their ids. */
function newestFirst(a: ListedImage, b: ListedImage): number {
  return (timeOf(b) ?? 0) - (timeOf(a) ?? 0) || (a.id < b.id ? 1 : -1)
}

function timeOf({ time }: ListedImage): Millis | null {
  const told = Date.parse(time ?? '')
  return Number.isNaN(told) ? null : told
}
