import type { Db } from '../database.ts'

/**
 * Albums whose content on the host is known: they were walked whole, or made by albumd. Null is the host's root. One
 * that is not known is walked before the first upload into it.
 */
export function openContents(db: Db) {
  const at = db.prepare<[number], { unrecorded: number }>('SELECT unrecorded FROM contents WHERE album = ?')
  const put = db.prepare<[number, number]>(
    'INSERT INTO contents (album, unrecorded) VALUES (?, ?) ON CONFLICT DO UPDATE SET unrecorded = excluded.unrecorded',
  )
  const forget = db.prepare('DELETE FROM contents')
  const forgetOne = db.prepare<[number]>('DELETE FROM contents WHERE album = ?')

  return {
    reads: {
      /** How many of the album's images are not ours; undefined where that is not known. */
      unrecorded: (album: number | null) => at.get(album ?? 0)?.unrecorded,
    },
    writes: {
      put: (album: number | null, unrecorded: number) => void put.run(album ?? 0, unrecorded),
      /** Nothing is known any more: the records may be old. */
      forget: () => void forget.run(),
      forgetAlbum: (album: number | null) => void forgetOne.run(album ?? 0),
    },
  }
}
