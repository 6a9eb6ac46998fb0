import type { Db } from '../database.ts'
import { statements } from '../statements.ts'
import type { AlbumRow } from './albums.ts'

/**
 * empty: a complete walk showed nothing in the album, first at `since`.
 * occupied: at `since` the album held an unrecorded image, or the host refused its deletion.
 * deleting: its deletion may have been done.
 */
export interface UnusedAlbumRow {
  album: number
  /** Monotonic milliseconds of this boot. */
  since: number
  state: 'empty' | 'occupied' | 'deleting'
}

/** Albums that albumd created and that nothing needs. */
export function openUnusedAlbums(db: Db) {
  const { all, get, run, value } = statements(db)
  // An open upload or creation may fill the album without a record.
  const put = run<[UnusedAlbumRow]>(
    `INSERT INTO unused_albums (album, since, state) VALUES (@album, @since, @state)
     ON CONFLICT DO UPDATE SET since = excluded.since, state = excluded.state`,
  )
  const ofNoUse = [
    'DELETE FROM unused_albums WHERE album = ?',
    'DELETE FROM contents WHERE album = ?',
    'DELETE FROM audit WHERE album = ?',
    'DELETE FROM audit_findings WHERE album = ?',
    'DELETE FROM albums WHERE id = ?',
  ].map(sql => run<[album: number]>(sql))

  return {
    reads: {
      /** Albums that albumd created, in which no image is recorded, and for which no intent is open. */
      unused: all<[], AlbumRow>(`SELECT * FROM albums WHERE ours = 1 AND confirmed = 1
       AND NOT EXISTS (SELECT 1 FROM images WHERE images.album = albums.id)
       AND NOT EXISTS (SELECT 1 FROM journal WHERE journal.album = albums.id)`),
      /** The albums that are recorded in this album. */
      below: all<[album: number], AlbumRow>('SELECT * FROM albums WHERE parent = +?'),
      all: all<[], UnusedAlbumRow>('SELECT * FROM unused_albums ORDER BY album'),
      at: get<[album: number], UnusedAlbumRow>('SELECT * FROM unused_albums WHERE album = ?'),
      /** When the album that waits longest was first seen empty, in monotonic milliseconds; null when none waits. */
      oldest: value<[], number | null>(`SELECT min(since) FROM unused_albums WHERE state <> 'occupied'`),
    },
    writes: {
      put: (row: UnusedAlbumRow) => put({ ...row, since: Math.round(row.since) }),
      remove: run<[album: number]>('DELETE FROM unused_albums WHERE album = ?'),
      /** Forgets an album that is gone from the host. No image may be recorded in it. */
      forgetAlbum(album: number): void {
        for (const forget of ofNoUse) forget(album)
      },
      /** After a boot the monotonic clock begins anew, and so do recorded times. */
      restartClocks: run<[monotonic: number]>('UPDATE unused_albums SET since = round(?)'),
    },
  }
}
