import { setImmediate as nextTurn } from 'node:timers/promises'
import { DECIDED_CODES } from '../protocol/decisions.ts'
import type { Account } from './data/accounts.ts'
import type { Albums } from './data/albums.ts'
import type { Db } from './data/database.ts'
import type { ImageRow, Images } from './data/images.ts'
import type { PictureStore } from './ports.ts'
import { Refusal } from './refusal.ts'

interface Means {
  db: Db
  albums: Albums
  images: Images
  pictures: PictureStore
}

/** §4.5: what a query asks to delete; null stands for a parameter that is not there. */
export interface DeletionQuery {
  img: string | null
  album: string | null
}

export type Deleted = { image: string } | { albums: number; images: number }

/** `DELETE /delete` (§4.5). */
export async function deleteResource(means: Means, account: Account, query: DeletionQuery): Promise<Deleted> {
  const { img, album } = query
  if (img !== null && album !== null)
    throw new Refusal(DECIDED_CODES.bothParams, 'Only one of img and album may be given.')
  if (img) return deleteImage(means, account, img)
  if (album) return deleteAlbum(means, account, album)
  throw new Refusal(DECIDED_CODES.noParam, 'One of img and album is required.')
}

/**
 * The row goes first, then the bytes; where they stay, the row comes back. So a listed image always has its bytes,
 * and bytes that a kill leaves without a row are cleared away at the next start. All of it is one turn of the event
 * loop, so nobody sees the image gone and back.
 */
function deleteImage({ db, images, pictures }: Means, account: Account, id: string): Deleted {
  const image = ownedImage(images, account, id)
  db.transaction(() => images.remove(image)).immediate()
  try {
    pictures.remove(image.file)
  } catch {
    db.transaction(() => images.putBack(image)).immediate()
    throw new Refusal('DELETE_FAILED', 'The image could not be deleted.')
  }
  return { image: id }
}

function ownedImage(images: Images, account: Account, id: string): ImageRow {
  const image = images.byId(id)
  if (!image) throw new Refusal('NOT_FOUND', 'There is no such image.')
  if (image.account !== account.id) throw new Refusal('FORBIDDEN', 'The image is not yours.')
  return image
}

async function deleteAlbum(means: Means, account: Account, id: string): Promise<Deleted> {
  const { db, albums, images, pictures } = means
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

/** How many files are removed before others have their turn. */
const BATCH = 50

/** Nothing lists them any more: one that can't be removed is left to the next start. */
async function removeFiles(pictures: PictureStore, files: readonly string[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    if (index % BATCH === BATCH - 1) await nextTurn()
    try {
      pictures.remove(file)
    } catch {}
  }
}
