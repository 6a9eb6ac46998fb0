import { ALBUM_NAME_MAX } from '../protocol/limits.ts'
import { readPicture } from '../protocol/picture/picture.ts'
import { openAdmission } from './admission.ts'
import { asBody, type Body, optionalString, requiredName } from './body.ts'
import { openIssuing } from './credentials.ts'
import { type Account, type AlbumRow, type Albums, openAccounts, openAlbums } from './data/accounts.ts'
import { openCredentials } from './data/credentials.ts'
import type { Db } from './data/database.ts'
import { type ImageRow, openImages } from './data/images.ts'
import { albumAt } from './default-album.ts'
import { type DeletionQuery, deleteResource } from './deletion.ts'
import { createdAlbumRecord, list } from './listing.ts'
import type { Clock, HostSettings, PictureStore, Random, ReadPicture } from './ports.ts'
import type { Readings } from './readings.ts'
import { Refusal } from './refusal.ts'
import { openUploadNode } from './upload-node.ts'
import { readPresignOrder, readUploadOrder } from './upload-order.ts'

export interface HostPorts {
  db: Db
  pictures: PictureStore
  clock: Clock
  random: Random
  /** How a picture is read from its bytes; by default as the protocol does. */
  readPicture?: ReadPicture
}

export type HostService = ReturnType<typeof openHostService>

/**
 * The image host without HTTP: the operations of §4 as calls. Each call throws a Refusal when the request is refused. Each
 * request is admitted by `admit`, or by `admitUpload` for step 2, before anything else is done.
 */
export function openHostService(ports: HostPorts, apiKeys: readonly string[], settings: HostSettings) {
  const { db, pictures, clock, random } = ports
  const accounts = openAccounts(db, apiKeys, random, clock.wall())
  const albums = openAlbums(db)
  const images = openImages(db)
  const credentials = openCredentials(db, settings)
  const admission = openAdmission(accounts, settings, clock)
  const node = openUploadNode({
    db,
    albums,
    images,
    credentials,
    pictures,
    readPicture: ports.readPicture ?? readPicture,
    settings,
    clock,
  })
  const defaultOf = db.transaction(() => defaultAlbums()).immediate()
  const issuing = openIssuing({
    db,
    albums,
    images,
    credentials,
    node,
    settings,
    clock,
    random,
    // A default album that was deleted is none.
    defaultAlbum: account =>
      albums.at(defaultOf.get(account.id) ?? account.root) ?? albums.owned(account, null),
  })
  clearLeftBytes()

  /** The default album of each account, where there is one. */
  function defaultAlbums(): Map<number, number> {
    const { defaultAlbum } = settings
    if (defaultAlbum === null) return new Map()
    return new Map(
      accounts
        .all()
        .map(account => [account.id, albumAt({ albums, clock, random }, account, defaultAlbum).seq]),
    )
  }

  /** A kill between writing bytes and writing the row leaves bytes that no row names. */
  function clearLeftBytes(): void {
    for (const file of pictures.files()) if (!images.hasFile(file)) pictures.remove(file)
  }

  return {
    identify: admission.identify,
    admit: admission.admit,

    /** Admits step 2. The token names the credential, and the credential names the account whose rate counts. */
    admitUpload(token: string) {
      const credential = node.credentialOf(token)
      return { credential, rate: admission.count(credential.account, 'send') }
    },

    /** §4.1 */
    requestUpload: (account: Account, body: unknown) =>
      issuing.issue(account, readUploadOrder(asBody(body), settings.readings)),
    /** §4.3 */
    presign: (account: Account, body: unknown) =>
      issuing.issue(account, readPresignOrder(asBody(body), settings.readings)),
    /** §4.2 */
    send: node.send,

    /** §4.4 */
    list: (account: Account, albumId: string | null, page: string | null) =>
      list({ albums, images, readings: settings.readings }, account, { albumId, page }),
    /** §4.5 */
    delete: (account: Account, query: DeletionQuery) =>
      deleteResource({ db, albums, images, pictures, settings }, account, query),
    /** §4.6 */
    createAlbum: (account: Account, body: unknown) =>
      createdAlbumRecord(
        createAlbum({ albums, clock, random, readings: settings.readings }, account, asBody(body)),
        settings.readings,
      ),

    /** The image at a delivery address (§4.3.3). */
    delivered(imageId: string): ImageRow {
      const image = images.byId(imageId)
      if (!image) throw new Refusal('NOT_FOUND', 'There is no such image.')
      return image
    },
    readPicture: pictures.read,

    /** Resolves once no upload is under way. */
    settled: node.settled,
  }
}

interface Stores {
  albums: Albums
  clock: Clock
  random: Random
  readings: Readings
}

/** `POST /create_album` (§4.6). */
export function createAlbum(stores: Stores, account: Account, body: Body): AlbumRow {
  const { albums, clock, random, readings } = stores
  const codes = { missing: 'MISSING_NAME', tooLong: 'albumNameTooLong' } as const
  const name = requiredName(body, 'name', ALBUM_NAME_MAX, codes)
  const parent = albums.owned(account, optionalString(body, 'parent_album'))
  if (parent.depth >= readings.depthMax)
    throw new Refusal('tooDeep', `Albums may be nested ${readings.depthMax} deep.`)
  if (readings.albumNames === 'unique' && albums.hasNamed(parent.seq, name))
    throw new Refusal('albumNameTaken', 'There is an album of this name.')
  return albums.insert({
    id: random(16).toString('hex'),
    account: account.id,
    parent: parent.seq,
    name,
    depth: parent.depth + 1,
    created_at: clock.wall(),
  })
}
