import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Endpoint } from '../protocol/endpoints.ts'
import { ALBUM_NAME_MAX, PLANS, type Plan } from '../protocol/limits.ts'
import { asBody, type Body, optionalString, requiredName } from './body.ts'
import type { Account, AlbumRow } from './data/accounts.ts'
import type { ImageRow } from './data/images.ts'
import { createdAlbumRecord, list } from './listing.ts'
import type { HostSettings, PictureStore } from './ports.ts'
import { type RateState, Refusal } from './refusal.ts'
import { type HostPorts, openStores, type Stores } from './stores.ts'
import { openUploadNode } from './upload-node.ts'
import { openIssuing, readPresignOrder, readUploadOrder } from './upload-order.ts'

export type HostService = ReturnType<typeof openHostService>

/** The image host without HTTP: the calls of §4, which throw Refusal. Call `admit` first, for step 2 `admitUpload`. */
export function openHostService(ports: HostPorts, apiKeys: readonly string[], settings: HostSettings) {
  const stores = openStores(ports, apiKeys, settings)
  const { db, pictures, accounts, albums, images } = stores
  const admission = openAdmission(stores)
  const node = openUploadNode(stores)
  const defaultOf = db.transaction(() => defaultAlbums(stores)).immediate()
  // The account's default album; the root when there is none, or when the default album was deleted.
  const defaultAlbum = (account: Account) =>
    albums.at(defaultOf.get(account.id) ?? account.root) ?? albums.owned(account, null)
  const issue = openIssuing(stores, node, defaultAlbum)
  // When the process was killed after it wrote an image's bytes and before it wrote the row, the bytes have no row.
  for (const file of pictures.files()) if (!images.hasFile(file)) pictures.remove(file)

  return {
    identify: accounts.identify,
    admit: admission.admit,

    /** Admits step 2, which has no key. The token names the credential and so the account, whose rate the request counts for. */
    admitUpload(token: string) {
      const credential = node.credentialOf(token)
      return { credential, rate: admission.count(credential.account, 'send') }
    },

    /** §4.1 */
    requestUpload: (account: Account, body: unknown) => issue(account, readUploadOrder(asBody(body))),
    /** §4.3 */
    presign: (account: Account, body: unknown) => issue(account, readPresignOrder(asBody(body))),
    /** §4.2 */
    send: node.send,

    /** §4.4 */
    list: (account: Account, albumId: string | null, page: string | null) =>
      list(stores, account, albumId, page),
    /** §4.5 */
    delete: (account: Account, query: DeletionQuery) => deleteResource(stores, account, query),
    /** §4.6 */
    createAlbum: (account: Account, body: unknown) =>
      createdAlbumRecord(createAlbum(stores, account, asBody(body))),

    /** The image at a delivery address (§4.3.3). */
    delivered(imageId: string): ImageRow {
      const image = images.byId(imageId)
      if (!image) throw new Refusal('NOT_FOUND', 'There is no such image.')
      return image
    },
    readPicture: pictures.read,

    settled: node.settled,
  }
}

function createAlbum({ albums, settings }: Stores, account: Account, body: Body): AlbumRow {
  const { depthMax, albumNames } = settings.readings
  const codes = { missing: 'MISSING_NAME', tooLong: 'albumNameTooLong' } as const
  const name = requiredName(body, 'name', ALBUM_NAME_MAX, codes)
  const parent = albums.owned(account, optionalString(body, 'parent_album'))
  if (parent.depth >= depthMax) throw new Refusal('tooDeep', `Albums may be nested ${depthMax} deep.`)
  if (albumNames === 'unique' && albums.hasNamed(parent.seq, name))
    throw new Refusal('albumNameTaken', 'There is an album of this name.')
  return albums.make(parent, name)
}

/** The row of each account's default album, if the settings name one. A missing album is made. Of albums with equal names the
 * oldest counts. */
function defaultAlbums({ accounts, albums, settings }: Stores): Map<number, number> {
  const { defaultAlbum } = settings
  if (defaultAlbum === null) return new Map()
  return new Map(
    accounts.all().map(account => {
      let album = albums.owned(account, null)
      for (const name of defaultAlbum.split('/'))
        album = albums.below(album.seq).find(below => below.name === name) ?? albums.make(album, name)
      return [account.id, album.seq]
    }),
  )
}

/** Checks a request's key (§5), rate (§8) and plan (§1.5), in this order. */
function openAdmission({ accounts, settings, clock }: Stores) {
  const windows = new Map<string, RateWindow>()

  function count(accountId: number, endpoint: Endpoint): RateState {
    const key = `${accountId} ${endpoint}`
    const window = windows.get(key) ?? new RateWindow(settings.requestsPerSecond[endpoint])
    windows.set(key, window)
    const { retryAfterMs, ...rate } = window.take(clock.monotonic())
    if (retryAfterMs === null) return rate
    const message = `At most ${rate.limit} requests a second are allowed here.`
    throw new Refusal('RATE_LIMITED', message, { rate, retryAfterMs })
  }

  return {
    count,
    admit(apiKey: string | undefined, endpoint: Endpoint): { account: Account; rate: RateState } {
      const account = accounts.identify(apiKey)
      const rate = count(account.id, endpoint)
      const from: Plan = endpoint === 'upload' ? 'professional' : settings.plansFrom
      if (PLANS.indexOf(settings.plan) < PLANS.indexOf(from))
        throw new Refusal('PLAN_NOT_SUPPORTED', `This endpoint begins with the ${from} plan.`, { rate })
      return { account, rate }
    },
  }
}

const SECOND = 1000

/** The rate of §8, over any second. A refused request does not count. `now`: monotonic milliseconds. */
export class RateWindow {
  readonly #limit: number
  #admitted: number[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** `retryAfterMs`: in how many milliseconds a request will be admitted. Null: this request is admitted. */
  take(now: number): RateState & { retryAfterMs: number | null } {
    const limit = this.#limit
    if (limit === Number.POSITIVE_INFINITY) return { limit, remaining: limit, retryAfterMs: null }
    this.#admitted = this.#admitted.filter(at => now - at < SECOND)
    if (this.#admitted.length >= limit)
      return { limit, remaining: 0, retryAfterMs: (this.#admitted[0] ?? now) + SECOND - now }
    this.#admitted.push(now)
    return { limit, remaining: limit - this.#admitted.length, retryAfterMs: null }
  }
}

/** What a query asks to delete (§4.5). Null: the parameter is missing. */
interface DeletionQuery {
  img: string | null
  album: string | null
}

type Deleted = { image: string } | { albums: number; images: number }

async function deleteResource(stores: Stores, account: Account, query: DeletionQuery): Promise<Deleted> {
  const { img, album } = query
  if (img !== null && album !== null)
    throw new Refusal('bothParams', 'Only one of img and album may be given.')
  if (img) return deleteImage(stores, account, img)
  if (album) return deleteAlbum(stores, account, album)
  throw new Refusal('noParam', 'One of img and album is required.')
}

/** Deletes the row and then the bytes, in one turn. When the bytes can't be removed, the row comes back, so that a listed image
 * has its bytes. After a kill in between, the next start removes the bytes. */
function deleteImage({ db, images, pictures }: Stores, account: Account, id: string): Deleted {
  const image = images.byId(id)
  if (!image) throw new Refusal('NOT_FOUND', 'There is no such image.')
  if (image.account !== account.id) throw new Refusal('FORBIDDEN', 'The image is not yours.')
  db.transaction(() => images.remove(image)).immediate()
  try {
    pictures.remove(image.file)
  } catch {
    db.transaction(() => images.putBack(image)).immediate()
    throw new Refusal('DELETE_FAILED', 'The image could not be deleted.')
  }
  return { image: id }
}

async function deleteAlbum(stores: Stores, account: Account, id: string): Promise<Deleted> {
  const { db, albums, images, pictures } = stores
  const album = albums.owned(account, id)
  const removed = db
    .transaction(() => ({
      files: images.removeTree(account.id, album.seq),
      albums: albums.removeTree(album.seq),
    }))
    .immediate()
  await removeFiles(pictures, removed.files)
  return { albums: removed.albums, images: removed.files.length }
}

/** After this many files, the event loop turns for other requests. */
const BATCH = 50

/** Removes files that no row names any more. When a file can't be removed, the next start removes it. */
async function removeFiles(pictures: PictureStore, files: readonly string[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    if (index % BATCH === BATCH - 1) await nextTurn()
    try {
      pictures.remove(file)
    } catch {}
  }
}
