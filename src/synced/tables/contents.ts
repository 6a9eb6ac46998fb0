import type { Db } from '../database.ts'
import { statements } from '../statements.ts'

/**
 * How many unrecorded images albums hold, for albums that were walked or created by albumd. A null album is the host's root.
 * Any other album is walked before the first upload into it.
 */
export function openContents(db: Db) {
  const { run } = statements(db)
  const at = db.prepare<[number], { unrecorded: number }>('SELECT unrecorded FROM contents WHERE album = ?')
  const put = db.prepare<[number, number]>(
    'INSERT INTO contents (album, unrecorded) VALUES (?, ?) ON CONFLICT DO UPDATE SET unrecorded = excluded.unrecorded',
  )
  const forgetOne = db.prepare<[number]>('DELETE FROM contents WHERE album = ?')

  return {
    reads: {
      /** How many unrecorded images the album holds; undefined when nobody has looked. */
      unrecorded: (album: number | null) => at.get(album ?? 0)?.unrecorded,
    },
    writes: {
      put: (album: number | null, unrecorded: number) => void put.run(album ?? 0, unrecorded),
      /** Forgets all counts, because the records may be old. */
      forget: run<[]>('DELETE FROM contents'),
      forgetAlbum: (album: number | null) => void forgetOne.run(album ?? 0),
    },
  }
}
