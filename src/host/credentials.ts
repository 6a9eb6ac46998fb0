import type { Account, AlbumRow } from './data/accounts.ts'
import { Refusal } from './refusal.ts'
import type { Stores } from './stores.ts'
import type { UploadNode } from './upload-node.ts'
import type { UploadOrder } from './upload-order.ts'

/**
 * Step 1 of an upload, in both forms (§4.1, §4.3): checks the order against account and plan, and issues a credential.
 * `defaultAlbum`: the album of an order that names none.
 */
export function openIssuing(
  { db, albums, images, credentials, settings, clock, random }: Stores,
  node: UploadNode,
  defaultAlbum: (account: Account) => AlbumRow,
) {
  /** Answers the token for the upload address, and the image's id. */
  function issue(account: Account, order: UploadOrder) {
    const now = clock.wall()
    const album = order.albumId === null ? defaultAlbum(account) : albums.owned(account, order.albumId)
    if (order.size > settings.maxFileSize)
      throw new Refusal('FILE_TOO_LARGE', `A file may have at most ${settings.maxFileSize} bytes.`)
    credentials.lapse(now)
    refuseOverQuota(account, now)
    refuseFullStorage(account, order.size)
    node.refuseWithoutRoom(account.id, order.size)

    const issued = { token: random(32).toString('base64url'), imageId: random(16).toString('hex') }
    const { albumId: _, ...declared } = order
    const credential = { ...declared, account: account.id, image_id: issued.imageId, album: album.seq }
    credentials.issue(issued.token, { ...credential, expires_at: now + settings.credentialTtlMs }, now)
    return issued
  }

  function refuseOverQuota(account: Account, now: number): void {
    const over = credentials.usedOn(account.id, now) - settings.dailyQuota
    if (over < 0) return
    const message = `The day's ${settings.dailyQuota} images are used up.`
    // When the quota is 0, no later day has room either.
    const retryAfterMs = settings.dailyQuota > 0 ? credentials.nextPlace(account.id, now, over) - now : null
    throw new Refusal('DAILY_LIMIT_REACHED', message, { retryAfterMs })
  }

  function refuseFullStorage(account: Account, size: number): void {
    const taken = images.storedBytes(account.id) + credentials.promisedBytes(account.id)
    if (taken + size > settings.storageLimit)
      throw new Refusal(
        'STORAGE_LIMIT_REACHED',
        `The account may hold at most ${settings.storageLimit} bytes.`,
      )
  }

  return db.transaction(issue).immediate
}
