import type { Db } from './database.ts'

export interface AlbumRow {
  id: number
  parent: number | null
  name: string
  remote_id: string
  ours: 0 | 1
  /** 0: the host did not know its id; it is to be looked for again. */
  confirmed: 0 | 1
}

/** The albums on the host that mirrors hang in. */
export function openAlbums(db: Db) {
  const named = db.prepare<[number, string], AlbumRow>(
    'SELECT * FROM albums WHERE coalesce(parent, 0) = ? AND name = ?',
  )
  const byId = db.prepare<[number], AlbumRow>('SELECT * FROM albums WHERE id = ?')
  const insert = db.prepare<[number | null, string, string, number]>(
    'INSERT INTO albums (parent, name, remote_id, ours) VALUES (?, ?, ?, ?)',
  )
  // The one that was lost may have been ours and the one found not: what is ours is said of the id.
  const setRemote = db.prepare<{ id: number; remoteId: string; ours: number }>(
    `UPDATE albums SET ours = iif(remote_id = @remoteId, ours, @ours), remote_id = @remoteId, confirmed = 1 WHERE id = @id`,
  )
  const setConfirmed = db.prepare<[number, number]>('UPDATE albums SET confirmed = ? WHERE id = ?')

  return {
    named: (parent: number | null, name: string) => named.get(parent ?? 0, name),
    byId: (id: number) => byId.get(id),
    /** Records an album, or that the one recorded under this name is now another. */
    put(parent: number | null, name: string, remoteId: string, ours: boolean): AlbumRow {
      const known = named.get(parent ?? 0, name)
      if (known) setRemote.run({ id: known.id, remoteId, ours: Number(ours) })
      else insert.run(parent, name, remoteId, Number(ours))
      return named.get(parent ?? 0, name)!
    },
    setConfirmed: (id: number, confirmed: boolean) => void setConfirmed.run(Number(confirmed), id),
  }
}
