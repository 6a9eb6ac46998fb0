import { readPicture } from '../protocol/picture/picture.ts'
import { openAdmission } from './admission.ts'
import { createAlbum } from './album-creation.ts'
import { asBody } from './body.ts'
import { openCredentialDesk } from './credential-desk.ts'
import { type Account, openAccounts } from './data/accounts.ts'
import { openAlbums } from './data/albums.ts'
import { openCredentials } from './data/credentials.ts'
import type { Db } from './data/database.ts'
import { type ImageRow, openImages } from './data/images.ts'
import { type DeletionQuery, deleteResource } from './deletion.ts'
import { createdAlbumRecord, list } from './listing.ts'
import type { Clock, PictureStore, Random, ReadPicture } from './ports.ts'
import { Refusal } from './refusal.ts'
import type { HostSettings } from './settings.ts'
import { openUploadNode } from './upload-node.ts'
import { readPresignOrder, readUploadOrder } from './upload-order.ts'

export interface HostPorts {
  db: Db
  pictures: PictureStore
  clock: Clock
  random: Random
  /** Left out: as the protocol reads it. */
  readPicture?: ReadPicture
}

export type HostService = ReturnType<typeof openHostService>

/**
 * The image host apart from HTTP: §4's operations as calls. Each throws Refusal where it does not answer. A request is
 * let in by `admit` (or, for step 2, by `admitUpload`) before anything else is asked.
 */
export function openHostService(ports: HostPorts, apiKeys: readonly string[], settings: HostSettings) {
  const { db, pictures, clock, random } = ports
  const accounts = openAccounts(db, apiKeys, random, clock.wall())
  const albums = openAlbums(db)
  const images = openImages(db)
  const credentials = openCredentials(db)
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
  const desk = openCredentialDesk({ db, albums, images, credentials, node, settings, clock, random })
  clearLeftBytes()

  /** A kill between bytes and row leaves bytes that nothing lists. */
  function clearLeftBytes(): void {
    for (const file of pictures.files()) if (!images.hasFile(file)) pictures.remove(file)
  }

  return {
    identify: admission.identify,
    admit: admission.admit,

    /** Lets step 2 in: the token says which credential, and thereby whose rate it counts for. */
    admitUpload(token: string) {
      const credential = node.credentialOf(token)
      return { credential, rate: admission.count(credential.account, 'send') }
    },

    /** §4.1 */
    requestUpload: (account: Account, body: unknown) => desk.issue(account, readUploadOrder(asBody(body))),
    /** §4.3 */
    presign: (account: Account, body: unknown) => desk.issue(account, readPresignOrder(asBody(body))),
    /** §4.2 */
    send: node.send,

    /** §4.4 */
    list: (account: Account, albumId: string | null, page: string | null) =>
      list({ albums, images }, account, albumId, page),
    /** §4.5 */
    delete: (account: Account, query: DeletionQuery) =>
      deleteResource({ db, albums, images, pictures }, account, query),
    /** §4.6 */
    createAlbum: (account: Account, body: unknown) =>
      createdAlbumRecord(createAlbum({ albums, clock, random }, account, asBody(body))),

    /** The image that a delivery address (§4.3.3) stands for. */
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
