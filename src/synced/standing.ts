import type { Db } from './database.ts'
import type { FileRow } from './tables/files.ts'

/** A file as the last scan saw it, with its path below the mirror. */
export interface StandingFile extends FileRow {
  path: string
}

export type Standing = ReturnType<typeof openStanding>

/**
 * Reads the files of a mirror in the order of their paths, page by page. So memory does not grow with their number, and no
 * transaction stays open while a slow reader takes its time.
 */
export function openStanding(db: Db) {
  // In SQLite's order every text comes before a blob.
  const foldersAfter = db.prepare<
    { mirror: number; after: string; end: string | Buffer },
    { id: number; path: string }
  >(
    `SELECT id, path FROM folders WHERE mirror = +@mirror AND path > +@after AND path < +@end ORDER BY path LIMIT 256`,
  )
  const folderAt = db.prepare<[number, string], { id: number; path: string }>(
    'SELECT id, path FROM folders WHERE mirror = ? AND path = ?',
  )
  const filesAfter = db.prepare<{ folder: number; after: string }, FileRow>(
    'SELECT * FROM files WHERE folder = +@folder AND name > +@after ORDER BY name LIMIT 512',
  )
  const totals = db.prepare<[number], { pictures: number; bytes: number }>(
    `SELECT count(images.id) AS pictures, ifnull(sum(images.size), 0) AS bytes
     FROM folders CROSS JOIN files ON files.folder = folders.id JOIN images ON images.id = files.image
     WHERE mirror = +?`,
  )

  function* foldersFrom(mirror: number, path: string): Generator<{ id: number; path: string }> {
    const self = folderAt.get(mirror, path)
    if (self) yield self
    // All paths below `a/` come before `a0`, because '0' follows '/' in the order of bytes.
    const end = path === '' ? Buffer.alloc(0) : `${path}0`
    for (let after = path === '' ? '' : `${path}/`; ; ) {
      const rows = foldersAfter.all({ mirror, after, end })
      yield* rows
      const last = rows.at(-1)
      if (!last) return
      after = last.path
    }
  }

  function* filesOf({ id, path }: { id: number; path: string }): Generator<StandingFile> {
    for (let after = ''; ; ) {
      const rows = filesAfter.all({ folder: id, after })
      for (const row of rows) yield { ...row, path: path === '' ? row.name : `${path}/${row.name}` }
      const last = rows.at(-1)
      if (!last) return
      after = last.name
    }
  }

  return {
    /** The files at and below a folder; '' is the root. */
    *below(mirror: number, path: string): Generator<StandingFile> {
      for (const folder of foldersFrom(mirror, path)) yield* filesOf(folder)
    },
    /** How many files of a mirror have an image, and the bytes of these images. */
    totals: (mirror: number) => totals.get(mirror)!,
  }
}
