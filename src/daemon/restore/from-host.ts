import type { Config } from '../../config/schema.ts'
import type { ImageHost } from '../../remote/host.ts'
import { systemClock } from '../../sync/clock.ts'
import { belowBase, deliveryAddresses, type WholeWalk, walkEverything } from '../../sync/listing/index.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { NotPossible } from '../commands/command.ts'
import { type Access, openRemote } from '../engine/engine.ts'
import { claimState } from '../state/claim.ts'
import { reading } from '../state/state.ts'
import { type Due, fillFolder, type RestoreEvent, type RestoreReport, type Source } from './restore.ts'
import { safeName } from './target-folder.ts'

type ListedImage = WholeWalk['images'][number]

/**
 * Fills an empty folder with all images that the host lists, each in the folder of its album, or goes on where an
 * earlier run ended. It is for the case that pictures and state are lost, so it needs no records. Records that exist
 * prove the bytes of their images. No albumd may work with the state meanwhile, because both together would ask the
 * host too often (§8). Throws NotPossible, LockedError and StateError.
 */
export async function restoreFromHost(
  config: Config,
  folder: string,
  access: Access,
  tell: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  const claim = await claimState(config)
  try {
    return await reading(config, synced => {
      const open = () => listedImages(config, access, synced, interruption.stop)
      const request = { folder, mirrors: 'all that the host lists', ca: access.ca } as const
      return fillFolder(config, request, open, tell, interruption)
    })
  } finally {
    claim.release()
  }
}

/** All images of the account. Throws NotPossible. */
async function listedImages(
  config: Config,
  access: Access,
  synced: Synced,
  stop: AbortSignal,
): Promise<Source> {
  const { walk, base } = await listAll(config, access, stop)
  const built = deliveryAddresses(synced)
  const dueOf = (image: ListedImage, to: string): Due => {
    const recorded = synced.images.byRemoteId(image.id)
    const isProof = recorded !== undefined && recorded.proof !== 'none'
    const url = recorded?.cdn_url ?? built(image.id, image.name ?? '') ?? (base && belowBase(base, image.id))
    const told = Date.parse(image.time ?? '')
    const ms = Number.isNaN(told) ? (isProof ? recorded.recorded_at : null) : told
    const picture = {
      to,
      url,
      known: isProof ? { size: recorded.size, sha256: recorded.hash } : { listed: image },
      mtime: ms && ms * 1000,
      note: isProof ? ('proved' as const) : ('unproved' as const),
    }
    return { shown: { path: to }, picture }
  }
  return {
    pictures: walk.images.length,
    bytes: null,
    *due() {
      for (const [image, to] of placed(walk)) yield dueOf(image, to)
    },
    noAddress: 'its delivery address is not known: the listing names no base',
    doubt: walk.settled
      ? null
      : "the host's listing kept changing while it was read; run the same command again",
  }
}

/** Walks the whole account. `base`: the delivery base that its listings name. Throws NotPossible. */
async function listAll(
  config: Config,
  access: Access,
  stop: AbortSignal,
): Promise<{ walk: WholeWalk; base: string | null }> {
  // The process before may have sent a request a moment ago.
  const remote = openRemote(config.host, access, systemClock.monotonic(), {
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
    if (!walk.ok)
      throw new NotPossible(`the host could not be asked what it holds: ${inWords(walk.failure.message)}`)
    return { walk: walk.value, base }
  } finally {
    await remote.close()
  }
}

/**
 * The path of each image: the names of its albums and its own name. Of several images that would have one path, all but the
 * one with the first id get the id into their names, so that every run of the restore gives the same paths. Paths that differ
 * in case alone count as one path, because on some disks they are one.
 */
function placed({ albums, images }: WholeWalk): [image: ListedImage, path: string][] {
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
  const folded = (path: string) => path.normalize().toLowerCase()
  const taken = new Set([...byId.keys()].map(id => folded(folderOf(id))))
  return images
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(image => {
      const name = image.name || '_'
      const named = (addition: string) => pathOf(folderOf(image.album), safeName(name, addition))
      let path = named('')
      // Another image may have been listed with a name that ends in this id.
      for (let tries = 1; taken.has(folded(path)); tries++)
        path = named(tries === 1 ? ` (${image.id})` : ` ${tries} (${image.id})`)
      taken.add(folded(path))
      return [image, path]
    })
}
