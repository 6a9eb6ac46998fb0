import { fstatSync } from 'node:fs'
import { extname } from 'node:path'
import { readAuthorities } from '../config/host-access.ts'
import type { Config } from '../config/schema.ts'
import { stateFiles } from '../daemon/state/claim.ts'
import { Turns, WorkerProcess } from '../daemon/worker-process.ts'
import { openInside } from '../local/open-file.ts'
import { sourceOfBytes } from '../protocol/byte-reader.ts'
import { readPicture } from '../protocol/picture/picture.ts'
import { openDownloads } from '../remote/download.ts'
import { ThumbnailCache } from './thumbnail-cache.ts'

/** A picture's bytes, for a browser. */
export interface Thumbnail {
  mime: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Where the picture of a thumbnail is: in a mirror, or only on the host, at its delivery address. */
export type Place = { mirror: string; path: string } | { remote_id: string; url: string }

/** What a thumbnail is made from: a picture's bytes, or a file. */
export type Original = { bytes: Uint8Array } | { mirror: string; path: string }

/** The largest picture that is read, in bytes. */
const LARGEST = 64 * 2 ** 20
const CACHE_MOST = 32 * 2 ** 20
/** A request waits so long for its thumbnail. A browser has few connections, and the page needs one of them. */
const PATIENCE_MS = 500
const DOWNLOAD_WITHIN_MS = 60_000
/** How long no other try is made after a thumbnail could not be made. */
const AGAIN_MS = 10 * 60_000
/** The child's file. `extname`: `.ts` in src/page, `.js` in the built program. */
const CHILD = new URL(`./thumbnail-child${extname(import.meta.url)}`, import.meta.url)

/** Makes the thumbnails of the page when somebody looks at it, one at a time, and keeps them. */
export class Thumbnails {
  readonly #cache = new ThumbnailCache(CACHE_MOST)
  readonly #now: () => number
  readonly #maker = new WorkerProcess<Original, Uint8Array | null>(CHILD)
  readonly #underWay = new Map<string, Promise<Thumbnail | null>>()
  readonly #noneUntil = new Map<string, number>()
  readonly #downloads = new Turns()

  /** `now`: milliseconds on a clock that only goes forward. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** `place` must come from albumd's records, never from a browser. Null: the picture can't be shown, or is not made yet; the
   * page's script asks again. */
  async read(config: Config, place: Place, patienceMs = PATIENCE_MS): Promise<Thumbnail | null> {
    const key = 'url' in place ? place.remote_id : keyOfFile(place)
    if (key === null || (this.#noneUntil.get(key) ?? 0) > this.#now()) return null
    const made = this.#underWay.get(key) ?? this.#make(config, place, key)
    const { promise: later, resolve } = Promise.withResolvers<null>()
    const timer = setTimeout(() => resolve(null), patienceMs)
    return Promise.race([made, later]).finally(() => clearTimeout(timer))
  }

  close(): void {
    this.#maker.stop()
  }

  #make(config: Config, place: Place, key: string): Promise<Thumbnail | null> {
    const making = this.#find(config, place, key)
      .catch(() => null)
      .then(made => {
        if (made === null) this.#noneUntil.set(key, this.#now() + AGAIN_MS)
        this.#underWay.delete(key)
        return made
      })
    this.#underWay.set(key, making)
    return making
  }

  async #find(config: Config, place: Place, key: string): Promise<Thumbnail | null> {
    const { thumbnails } = stateFiles(config.state_dir)
    const kept = this.#cache.get(thumbnails, key)
    if (kept) return shown(kept)
    const original =
      'url' in place
        ? { bytes: await this.#downloads.take(() => download(config, place.url)) }
        : { mirror: place.mirror, path: place.path }
    const bytes = await this.#maker.ask(original)
    if (bytes === null) return null
    this.#cache.put(thumbnails, key, bytes)
    return shown(bytes)
  }
}

/** The key of a file's thumbnail, which changes with the file. Null: the file is gone or too large. */
function keyOfFile({ mirror, path }: { mirror: string; path: string }): string | null {
  try {
    const file = openInside(mirror, path)
    const stat = fstatSync(file.fd)
    file.close()
    return stat.isFile() && stat.size <= LARGEST ? [mirror, path, stat.size, stat.mtimeMs].join('\0') : null
  } catch {
    return null
  }
}

async function shown(bytes: Uint8Array): Promise<Thumbnail | null> {
  const picture = await readPicture(sourceOfBytes(bytes))
  return picture && { mime: picture.mime, bytes: new Uint8Array(bytes) }
}

/** Fetches the image from the host, without a key. */
async function download(config: Config, url: string): Promise<Uint8Array> {
  const ca = readAuthorities(config)
  const options = {
    baseUrl: config.host.base_url,
    timeoutMs: config.host.timeout,
    ...(ca !== null && { ca }),
  }
  const downloads = openDownloads(options)
  const chunks: Uint8Array[] = []
  // The chunks are kept as they come, because undici does not use them again.
  const request = { url, size: LARGEST, afresh: false, take: (chunk: Uint8Array) => void chunks.push(chunk) }
  try {
    const got = await downloads.fetch(request, AbortSignal.timeout(DOWNLOAD_WITHIN_MS))
    if (!got.ok || got.status !== 200) throw new Error('it is not delivered')
    return Buffer.concat(chunks)
  } finally {
    await downloads.close()
  }
}
