import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Account } from './data/accounts.ts'
import type { PictureStore } from './ports.ts'
import { Refusal } from './refusal.ts'
import type { Stores } from './stores.ts'

/** What a query asks to delete (§4.5). Null: the parameter is missing. */
export interface DeletionQuery {
  img: string | null
  album: string | null
}

export type Deleted = { image: string } | { albums: number; images: number }

/** `DELETE /delete` (§4.5). */
export async function deleteResource(
  stores: Stores,
  account: Account,
  query: DeletionQuery,
): Promise<Deleted> {
  const { img, album } = query
  if (img !== null && album !== null)
    throw new Refusal('bothParams', 'Only one of img and album may be given.')
  if (img) return deleteImage(stores, account, img)
  if (album) return deleteAlbum(stores, account, album)
  throw new Refusal('noParam', 'One of img and album is required.')
}

/**
 * Deletes the row first, and then the bytes. When the bytes can't be removed, the row is restored. So a listed image always has
 * its bytes. A kill may leave bytes without a row; the next start removes them. All happens in one turn of the event loop, so
 * no request sees an image vanish and come back.
 */
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
  const { db, albums, images, pictures, settings } = stores
  const album = albums.owned(account, id)
  const removed = db
    .transaction(() => ({
      files: images.removeTree(account.id, album.seq),
      albums: albums.removeTree(album.seq),
    }))
    .immediate()
  await removeFiles(pictures, removed.files)
  const itself = settings.readings.deletedAlbums === 'album-itself-too' ? 0 : 1
  return { albums: removed.albums - itself, images: removed.files.length }
}

/** How many files are removed before other requests get a turn of the event loop. */
const BATCH = 50

/** Removes files that no row names any more. A file that can't be removed is left to the next start. */
async function removeFiles(pictures: PictureStore, files: readonly string[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    if (index % BATCH === BATCH - 1) await nextTurn()
    try {
      pictures.remove(file)
    } catch {}
  }
}
