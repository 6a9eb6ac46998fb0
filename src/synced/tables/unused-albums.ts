import type { Db } from '../database.ts'
import type { AlbumRow } from './albums.ts'

/**
 * What is known of an album that nothing needs. empty: a complete walk showed nothing in it, first at `since`.
 * occupied: at `since` it held something that is not ours. deleting: its deletion may have been done.
 */
export interface UnusedAlbumRow {
  album: number
  /** Monotonic milliseconds of this boot. */
  since: number
  state: 'empty' | 'occupied' | 'deleting'
}

/** Albums that albumd made and that may be given up. */
export function openUnusedAlbums(db: Db) {
  // An upload or a creation that may have been served fills it without a record.
  const unused = db.prepare<[], AlbumRow>(
    `SELECT * FROM albums WHERE ours = 1 AND confirmed = 1
       AND NOT EXISTS (SELECT 1 FROM images WHERE images.album = albums.id)
       AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.album = albums.id)`,
  )
  const below = db.prepare<[number], AlbumRow>('SELECT * FROM albums WHERE parent = +?')
  const all = db.prepare<[], UnusedAlbumRow>('SELECT * FROM unused_albums ORDER BY album')
  const at = db.prepare<[number], UnusedAlbumRow>('SELECT * FROM unused_albums WHERE album = ?')
  const put = db.prepare<UnusedAlbumRow>(
    `INSERT INTO unused_albums (album, since, state) VALUES (@album, @since, @state)
     ON CONFLICT DO UPDATE SET since = excluded.since, state = excluded.state`,
  )
  const remove = db.prepare<[number]>('DELETE FROM unused_albums WHERE album = ?')
  const ofNoUse = [
    'DELETE FROM unused_albums WHERE album = ?',
    'DELETE FROM contents WHERE album = ?',
    'DELETE FROM audit WHERE album = ?',
    'DELETE FROM audit_findings WHERE album = ?',
    'DELETE FROM albums WHERE id = ?',
  ].map(sql => db.prepare<[number]>(sql))
  const first = db.prepare<[], { since: number | null }>(
    `SELECT min(since) AS since FROM unused_albums WHERE state <> 'occupied'`,
  )
  const restartClocks = db.prepare<[number]>('UPDATE unused_albums SET since = ?')

  return {
    reads: {
      /** Albums that albumd made, that no image is recorded in and that no intent is open for. */
      unused: () => unused.all(),
      /** The albums that are recorded in this one. */
      below: (album: number) => below.all(album),
      all: () => all.all(),
      at: (album: number) => at.get(album),
      /** Since when the one that waits longest was seen to be empty, in monotonic milliseconds; null where none waits. */
      oldest: () => first.get()!.since,
    },
    writes: {
      put: (row: UnusedAlbumRow) => void put.run({ ...row, since: Math.round(row.since) }),
      remove: (album: number) => void remove.run(album),
      /** The album is gone from the host. Nothing may be recorded in it. */
      forgetAlbum(album: number): void {
        for (const statement of ofNoUse) statement.run(album)
      },
      /** Another boot has another monotonic clock: what was measured by the old one begins anew. */
      restartClocks: (monotonic: number) => void restartClocks.run(Math.round(monotonic)),
    },
  }
}
