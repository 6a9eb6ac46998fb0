import type { Db } from '../database.ts'
import { statements } from '../statements.ts'

/**
 * How many images without a record each album holds. Such an image may be a picture that is about to be uploaded, so an album
 * is walked before the first upload into it, unless its count is here. The counts are of albums that were walked, or that
 * albumd created. A null album is the host's root.
 */
export function openContents(db: Db) {
  const { run, value } = statements(db)
  return {
    reads: {
      /** How many unrecorded images the album holds; undefined when nobody has looked. */
      unrecorded: value<[album: number | null], number | undefined>(
        'SELECT unrecorded FROM contents WHERE album = ifnull(?, 0)',
      ),
    },
    writes: {
      put: run<[album: number | null, unrecorded: number]>(
        `INSERT INTO contents (album, unrecorded) VALUES (ifnull(?, 0), ?)
         ON CONFLICT DO UPDATE SET unrecorded = excluded.unrecorded`,
      ),
      /** Forgets all counts, because the records may be old. */
      forget: run<[]>('DELETE FROM contents'),
      forgetAlbum: run<[album: number | null]>('DELETE FROM contents WHERE album = ifnull(?, 0)'),
    },
  }
}
