import { hash as hashOf, timingSafeEqual } from 'node:crypto'
import type { HostClock, Random } from '../ports.ts'
import { Refusal } from '../refusal.ts'
import type { Db } from './database.ts'

interface Ports {
  db: Db
  clock: HostClock
  random: Random
}

export interface Account {
  id: number
  /** `seq` of the album that is the account's root. */
  root: number
}

export type Accounts = ReturnType<typeof openAccounts>

/** Accounts by their keys. They stay over restarts. The database holds only the hash of a key. */
export function openAccounts({ db, clock, random }: Ports, apiKeys: readonly string[]) {
  const keys = db
    .transaction(() => apiKeys.map(key => ({ hash: hashOf('sha256', key, 'buffer'), account: ensured(key) })))
    .immediate()

  function ensured(key: string): Account {
    const hash = hashOf('sha256', key, 'buffer')
    db.prepare('INSERT INTO accounts (key_hash) VALUES (?) ON CONFLICT DO NOTHING').run(hash)
    const id = db.prepare<[Buffer], number>('SELECT id FROM accounts WHERE key_hash = ?').pluck().get(hash)!
    db.prepare(
      `INSERT INTO albums (id, account, parent, name, depth, created_at) VALUES (?, ?, NULL, '', 0, ?)
       ON CONFLICT (account) WHERE parent IS NULL DO NOTHING`,
    ).run(random(16).toString('hex'), id, clock.wall())
    const root = db
      .prepare<[number], number>('SELECT seq FROM albums WHERE account = ? AND parent IS NULL')
      .pluck()
      .get(id)!
    return { id, root }
  }

  return {
    all: () => keys.map(({ account }) => account),
    /** The account of a key. Refuses unknown keys (§5.2) in the same time each, so that nobody can find a key by measuring. */
    identify(apiKey: string | undefined): Account {
      if (!apiKey) throw new Refusal('MISSING_API_KEY', 'The X-API-Key header is required.')
      const hash = hashOf('sha256', apiKey, 'buffer')
      let found: Account | null = null
      for (const known of keys) if (timingSafeEqual(known.hash, hash)) found = known.account
      if (!found) throw new Refusal('INVALID_API_KEY', 'The API key is not valid.')
      return found
    },
  }
}

export interface AlbumRow {
  seq: number
  id: string
  account: number
  parent: number
  name: string
  depth: number
  created_at: number
}

export interface CountedAlbum extends AlbumRow {
  image_count: number
  sub_count: number
}

export type Albums = ReturnType<typeof openAlbums>

export function openAlbums({ db, clock, random }: Ports) {
  const byId = db.prepare<[string], AlbumRow>('SELECT * FROM albums WHERE id = ? AND depth > 0')
  const bySeq = db.prepare<[number], AlbumRow>('SELECT * FROM albums WHERE seq = ?')
  const insert = db.prepare<[Omit<AlbumRow, 'seq'>], AlbumRow>(
    `INSERT INTO albums (id, account, parent, name, depth, created_at)
     VALUES (@id, @account, @parent, @name, @depth, @created_at) RETURNING *`,
  )
  const named = db
    .prepare<[number, string], number>('SELECT 1 FROM albums WHERE parent = +? AND name = ? LIMIT 1')
    .pluck()
  const below = db.prepare<[number], CountedAlbum>(
    `SELECT *, (SELECT count(*) FROM images WHERE album = a.seq) AS image_count,
       (SELECT count(*) FROM albums WHERE parent = a.seq) AS sub_count
     FROM albums a WHERE parent = +? ORDER BY seq`,
  )
  const removeTree = db.prepare<[number]>(
    `WITH RECURSIVE tree (seq) AS (VALUES (?) UNION ALL SELECT a.seq FROM albums a JOIN tree ON a.parent = tree.seq)
     DELETE FROM albums WHERE seq IN (SELECT seq FROM tree)`,
  )

  return {
    /** The account's album with this id; null is its root. Refuses unknown ids and other accounts' albums. */
    owned(account: Account, id: string | null): AlbumRow {
      const album = id === null ? bySeq.get(account.root) : byId.get(id)
      if (!album) throw new Refusal('unknownAlbum', 'There is no such album.')
      if (album.account !== account.id) throw new Refusal('foreignAlbum', 'The album is not yours.')
      return album
    },
    at: (seq: number) => bySeq.get(seq),
    exists: (seq: number) => bySeq.get(seq) !== undefined,
    make({ seq, account, depth }: AlbumRow, name: string): AlbumRow {
      const id = random(16).toString('hex')
      return insert.get({ id, account, parent: seq, name, depth: depth + 1, created_at: clock.wall() })!
    },
    hasNamed: (parent: number, name: string) => named.get(parent, name) !== undefined,
    /** The albums in an album, oldest first, each with the counts of what it holds directly. */
    below: (seq: number) => below.all(seq),
    /** Deletes an album and all albums below it. No image may be in any of them. Returns how many albums were deleted. */
    removeTree: (seq: number) => removeTree.run(seq).changes,
  }
}
