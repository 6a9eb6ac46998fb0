import type { Account, AlbumRow, Albums } from './data/accounts.ts'
import type { Clock, Random } from './ports.ts'

interface Stores {
  albums: Albums
  clock: Clock
  random: Random
}

/**
 * The album at a path such as Photos/Inbox below an account's root. Albums of the path that are missing are made. Of
 * several albums with one name the oldest is taken.
 */
export function albumAt({ albums, clock, random }: Stores, account: Account, path: string): AlbumRow {
  let album = albums.owned(account, null)
  for (const name of path.split('/'))
    album =
      albums.below(album.seq).find(below => below.name === name) ??
      albums.insert({
        id: random(16).toString('hex'),
        account: account.id,
        parent: album.seq,
        name,
        depth: album.depth + 1,
        created_at: clock.wall(),
      })
  return album
}
