import { DECIDED_CODES, DECISIONS } from '../protocol/decisions.ts'
import { ALBUM_NAME_MAX } from '../protocol/limits.ts'
import { type Body, optionalString, requiredName } from './body.ts'
import type { Account } from './data/accounts.ts'
import type { AlbumRow, Albums } from './data/albums.ts'
import type { Clock, Random } from './ports.ts'
import { Refusal } from './refusal.ts'

interface Means {
  albums: Albums
  clock: Clock
  random: Random
}

/** `POST /create_album` (§4.6). */
export function createAlbum({ albums, clock, random }: Means, account: Account, body: Body): AlbumRow {
  const codes = { missing: 'MISSING_NAME', tooLong: DECIDED_CODES.albumNameTooLong } as const
  const name = requiredName(body, 'name', ALBUM_NAME_MAX, codes)
  const parent = albums.owned(account, optionalString(body, 'parent_album'))
  if (parent.depth >= DECISIONS.depthMax)
    throw new Refusal(DECIDED_CODES.tooDeep, `Albums may be nested ${DECISIONS.depthMax} deep.`)
  return albums.insert({
    id: random(16).toString('hex'),
    account: account.id,
    parent: parent.seq,
    name,
    depth: parent.depth + 1,
    created_at: clock.wall(),
  })
}
