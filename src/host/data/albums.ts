import { DECIDED_CODES } from '../../protocol/decisions.ts'
import { Refusal } from '../refusal.ts'
import type { Account } from './accounts.ts'
import type { Db } from './database.ts'

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

export function openAlbums(db: Db) {
  const byId = db.prepare<[string], AlbumRow>('SELECT * FROM albums WHERE id = ? AND depth > 0')
  const bySeq = db.prepare<[number], AlbumRow>('SELECT * FROM albums WHERE seq = ?')
  const insert = db.prepare<[Omit<AlbumRow, 'seq'>], AlbumRow>(
    `INSERT INTO albums (id, account, parent, name, depth, created_at)
     VALUES (@id, @account, @parent, @name, @depth, @created_at) RETURNING *`,
  )
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
    /** The account's own album of that id; null is its root. Refuses what is not there or not its own. */
    owned(account: Account, id: string | null): AlbumRow {
      const album = id === null ? bySeq.get(account.root) : byId.get(id)
      if (!album) throw new Refusal(DECIDED_CODES.unknownAlbum, 'There is no such album.')
      if (album.account !== account.id)
        throw new Refusal(DECIDED_CODES.foreignAlbum, 'The album is not yours.')
      return album
    },
    exists: (seq: number) => bySeq.get(seq) !== undefined,
    insert: (album: Omit<AlbumRow, 'seq'>) => insert.get(album)!,
    /** The sub-albums of one, oldest first, each with what it holds itself. */
    below: (seq: number) => below.all(seq),
    /** Deletes the album and all below it; they must be empty of images. Returns how many albums that were. */
    removeTree: (seq: number) => removeTree.run(seq).changes,
  }
}
