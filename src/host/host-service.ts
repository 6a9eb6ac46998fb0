import { ALBUM_NAME_MAX } from '../protocol/limits.ts'
import { openAdmission } from './admission.ts'
import { asBody, type Body, optionalString, requiredName } from './body.ts'
import { openIssuing } from './credentials.ts'
import type { Account, AlbumRow } from './data/accounts.ts'
import type { ImageRow } from './data/images.ts'
import { type DeletionQuery, deleteResource } from './deletion.ts'
import { createdAlbumRecord, list } from './listing.ts'
import type { HostSettings } from './ports.ts'
import { Refusal } from './refusal.ts'
import { type HostPorts, openStores, type Stores } from './stores.ts'
import { openUploadNode } from './upload-node.ts'
import { readPresignOrder, readUploadOrder } from './upload-order.ts'

export type HostService = ReturnType<typeof openHostService>

/**
 * The image host without HTTP: the operations of §4 as calls. Each call throws a Refusal when the request is refused. Each
 * request is admitted by `admit`, or by `admitUpload` for step 2, before anything else is done.
 */
export function openHostService(ports: HostPorts, apiKeys: readonly string[], settings: HostSettings) {
  const stores = openStores(ports, apiKeys, settings)
  const { db, pictures, accounts, albums, images } = stores
  const admission = openAdmission(stores)
  const node = openUploadNode(stores)
  const defaultOf = db.transaction(() => defaultAlbums(stores)).immediate()
  // A default album that was deleted is no default album any more.
  const defaultAlbum = (account: Account) =>
    albums.at(defaultOf.get(account.id) ?? account.root) ?? albums.owned(account, null)
  const issue = openIssuing(stores, node, defaultAlbum)
  // A kill between writing bytes and writing the row leaves bytes that no row names.
  for (const file of pictures.files()) if (!images.hasFile(file)) pictures.remove(file)

  return {
    identify: accounts.identify,
    admit: admission.admit,

    /** Admits step 2. The token names the credential, and the credential names the account whose rate counts. */
    admitUpload(token: string) {
      const credential = node.credentialOf(token)
      return { credential, rate: admission.count(credential.account, 'send') }
    },

    /** §4.1 */
    requestUpload: (account: Account, body: unknown) =>
      issue(account, readUploadOrder(asBody(body), settings.readings)),
    /** §4.3 */
    presign: (account: Account, body: unknown) =>
      issue(account, readPresignOrder(asBody(body), settings.readings)),
    /** §4.2 */
    send: node.send,

    /** §4.4 */
    list: (account: Account, albumId: string | null, page: string | null) =>
      list(stores, account, albumId, page),
    /** §4.5 */
    delete: (account: Account, query: DeletionQuery) => deleteResource(stores, account, query),
    /** §4.6 */
    createAlbum: (account: Account, body: unknown) =>
      createdAlbumRecord(createAlbum(stores, account, asBody(body)), settings.readings),

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

/** `POST /create_album` (§4.6). */
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

/**
 * The default album of each account, where there is one. Albums of its path that are missing are made. Of several albums with
 * one name the oldest is taken.
 */
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
