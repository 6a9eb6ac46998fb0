import type { Config } from '../../config/schema.ts'
import { type Downloads, openDownloads } from '../../remote/download.ts'
import { hostWith, type ImageHost } from '../../remote/host.ts'
import { systemClock } from '../../sync/clock.ts'
import {
  belowBase,
  deliveryAddresses,
  type PlacedWalk,
  sizeFits,
  walkEverything,
} from '../../sync/listing/index.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import { inWords } from '../../words/reasons.ts'
import { NotPossible } from '../commands/command.ts'
import { type Access, openRemote } from '../engine/engine.ts'
import { claimState } from '../state/claim.ts'
import { reading } from '../state/state.ts'
import { exactly, fetchPicture, Outages, pictureLike } from './fetch-picture.ts'
import { inTheWay, PlaceFiles } from './place-files.ts'
import { CONCURRENCY_MAX } from './restore.ts'
import type { FromHostEvent, FromHostReport } from './restore-event.ts'
import { FolderStopped, isSafePath, openTarget, PictureProblem, safeName } from './target-folder.ts'

type ListedImage = PlacedWalk['images'][number]

/** A listed image, and where it goes: a path below the folder that is filled. */
interface Listed {
  image: ListedImage
  path: string
}

/**
 * Fills an empty folder with all images that the host lists, each in the folder of its album, or goes on where an earlier run
 * ended. It serves when pictures and state are lost, so it needs no records; those that exist prove the bytes of their
 * images. No albumd may work with the state meanwhile, because both together would ask the host too often (§8). Throws
 * NotPossible, LockedError and StateError.
 */
export async function restoreFromHost(
  config: Config,
  folder: string,
  access: Access,
  tell: (event: FromHostEvent) => void,
  interruption: Interruption,
): Promise<FromHostReport> {
  const claim = await claimState(config)
  try {
    return await reading(config, async synced => {
      const target = await openTarget(folder, config, 'all that the host lists')
      const downloads = openDownloads({
        baseUrl: config.host.base_url,
        ...(access.ca !== null && { ca: access.ca }),
        timeoutMs: config.host.timeout,
      })
      let complete = false
      try {
        const listing = await listAll(config, access, interruption)
        const files = new PlaceFiles(target)
        const restore = new FromHost(synced, listing.base, downloads, files, tell)
        const concurrency = Math.min(CONCURRENCY_MAX, config.uploads.concurrency)
        const report = await restore.run(listing.walk, concurrency, interruption)
        complete = report.missing === 0 && report.stopped === null && !report.interrupted
        return report
      } finally {
        await downloads.close()
        await target.close(complete)
      }
    })
  } finally {
    claim.release()
  }
}

/** Walks the whole account. `base`: the delivery base that its listings name. Throws NotPossible. */
async function listAll(
  config: Config,
  access: Access,
  { stop }: Interruption,
): Promise<{ walk: PlacedWalk; base: string | null }> {
  // The process before may have sent a request a moment ago.
  const remote = openRemote(config.host, access, systemClock.monotonic(), {
    concurrency: config.uploads.concurrency,
    patience: { attempts: 5, maxDelayMs: 10_000 },
  })
  let base: string | null = null
  const host: ImageHost = hostWith(remote, {
    async list(...question) {
      const listed = await remote.list(...question)
      if (listed.ok) base = listed.value.cdn_base_url ?? base
      return listed
    },
  })
  try {
    const walk = await walkEverything(host, stop)
    if (!walk.ok)
      throw new NotPossible(`the host could not be asked what it holds: ${inWords(walk.failure.message)}`)
    return { walk: walk.value, base }
  } finally {
    await remote.close()
  }
}

/** Fetches listed images into a folder, and compares each with what is recorded of it, or with what the listing says. */
class FromHost {
  readonly #synced: Synced
  readonly #addressOf: (image: ListedImage) => string | null
  readonly #downloads: Downloads
  readonly #files: PlaceFiles
  readonly #tell: (event: FromHostEvent) => void
  readonly #report: FromHostReport = {
    restored: 0,
    there: 0,
    bytes: 0,
    proved: 0,
    unproved: 0,
    missing: 0,
    untried: 0,
    stopped: null,
    interrupted: false,
  }
  readonly #outages = new Outages()

  constructor(
    synced: Synced,
    base: string | null,
    downloads: Downloads,
    files: PlaceFiles,
    tell: (event: FromHostEvent) => void,
  ) {
    const built = deliveryAddresses(synced)
    this.#synced = synced
    this.#downloads = downloads
    this.#files = files
    this.#tell = tell
    this.#addressOf = ({ id, name = '' }) =>
      synced.images.byRemoteId(id)?.cdn_url ?? built(id, name) ?? (base && belowBase(base, id))
  }

  async run(walk: PlacedWalk, concurrency: number, interruption: Interruption): Promise<FromHostReport> {
    const report = this.#report
    const due = placed(walk)[Symbol.iterator]()
    this.#tell({ event: 'restore_started', pictures: walk.images.length, bytes: null })
    const work = async () => {
      while (!interruption.stop.aborted && report.stopped === null) {
        const next = due.next()
        if (next.done) return
        await this.#untilStopped(() => this.#restore(next.value, interruption.cut), 1)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    await this.#untilStopped(() => this.#files.flush())
    report.untried += [...due].length
    report.interrupted = interruption.stop.aborted
    // Images may be missing in a listing that kept changing while it was read.
    if (!walk.settled)
      report.stopped ??= `the host's listing kept changing while it was read; run the same command again`
    return report
  }

  async #restore(listed: Listed, cut: AbortSignal): Promise<void> {
    const { image, path } = listed
    const recorded = this.#synced.images.byRemoteId(image.id)
    const known = recorded && recorded.proof !== 'none' ? recorded : null
    try {
      if (!isSafePath(path)) throw new PictureProblem('UNSAFE_NAME', 'its name leads out of the folder')
      const there = await this.#sizeThere(listed, known)
      if (there !== null) this.#done(listed, there, known, true)
      else await this.#fetch(listed, known, cut)
    } catch (error) {
      if (!(error instanceof PictureProblem)) throw error
      this.#report.missing++
      this.#tell({ event: 'image_missing', path, code: error.code, message: error.message })
    }
  }

  /** The size of the picture that an earlier run has placed; null when there is none. */
  async #sizeThere({ image, path }: Listed, known: ImageRow | null): Promise<number | null> {
    const mtime = timeOf(image)
    if (known) {
      const wanted = { path, size: known.size, sha256: known.hash, mtime: mtime ?? known.recorded_at * 1000 }
      return (await this.#files.isThere(wanted)) ? known.size : null
    }
    const size = await this.#files.sizeAt(path)
    if (size !== null && !sizeFits(image.size ?? '', size)) throw inTheWay()
    return size
  }

  async #fetch(listed: Listed, known: ImageRow | null, cut: AbortSignal): Promise<void> {
    const { image, path } = listed
    const url = this.#addressOf(image)
    if (url === null)
      throw new PictureProblem('NO_ADDRESS', 'its delivery address is not known: the listing names no base')
    const begun = await this.#files.begin()
    try {
      const expected = known ? exactly({ size: known.size, sha256: known.hash }) : pictureLike(image, begun)
      if (!(await fetchPicture(this.#downloads, url, expected, begun, cut))) {
        this.#report.untried++
        return
      }
      this.#outages.passed()
      const { size } = begun
      await begun.finish({ path, mtime: timeOf(image) ?? (known ? known.recorded_at * 1000 : null) })
      this.#done(listed, size, known, false)
    } catch (error) {
      if (error instanceof PictureProblem) this.#report.stopped ??= this.#outages.failed(error)
      throw error
    } finally {
      await begun.close()
    }
  }

  #done({ path }: Listed, size: number, known: ImageRow | null, there: boolean): void {
    const report = this.#report
    if (there) report.there++
    else {
      report.restored++
      report.bytes += size
    }
    if (known) report.proved++
    else report.unproved++
    this.#tell({ event: 'image_restored', path, size, there, proved: known !== null })
  }

  /** Ends the restore where the folder can't be filled any further. `untried`: how many pictures `work` was about. */
  async #untilStopped(work: () => Promise<void>, untried = 0): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof FolderStopped)) throw error
      this.#report.stopped ??= error.message
      this.#report.untried += untried
    }
  }
}

/** The time that the listing tells, in microseconds since 1970. Null: none that can be understood. */
function timeOf({ time }: ListedImage): number | null {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? null : ms * 1000
}

/**
 * The path of each image: the names of its albums and its own name. Of several images that would have one path, all but the
 * one with the first id get the id into their names, so that every run of the restore gives the same paths.
 */
function placed({ albums, images }: PlacedWalk): Listed[] {
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
  const taken = new Set([...byId.keys()].map(folderOf))
  return images
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(image => {
      const folder = folderOf(image.album)
      const name = safeName(image.name ?? '')
      const plain = pathOf(folder, name)
      const path = taken.has(plain) ? pathOf(folder, withId(name, safeName(image.id))) : plain
      taken.add(path)
      return { image, path }
    })
}

function withId(name: string, id: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? `${name.slice(0, dot)} (${id})${name.slice(dot)}` : `${name} (${id})`
}
