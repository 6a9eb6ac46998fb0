import type { FileLook } from '../../local/look.ts'
import type { Statements } from '../database.ts'
import { boundsBelow, pages } from '../queries.ts'
import { type Bytes, idsWith, lostBytes, MADE_LESS, type MadeLess } from './images.ts'

/** pending: to be hashed, and to be sent when its bytes are new. synced: its image has its bytes. linked: an image has its name,
 * dimensions and size, and the bytes are not compared yet. uncertain: its upload is in doubt. failed: its last upload failed.
 * gone: not on the disk any more; its image is in escrow. kept: not on the disk any more; its image stays for good. hidden: left
 * out (ignored, empty, a link); its image stays. */
export type FileState = 'pending' | 'synced' | 'linked' | 'uncertain' | 'failed' | 'gone' | 'kept' | 'hidden'

export interface FileKey {
  folder: number
  name: string
}

export interface FileRow extends FileLook, FileKey {
  state: FileState
  since: number | null
  image: number | null
  /** The SHA-256 of the file's own bytes, of which others may have been sent. Null: it was not read yet. */
  hash: Buffer | null
  /** 1: the image lies in another album than the folder's own, which could not be had. It stays so until the picture changes. */
  flat: 0 | 1
}

/** A file as the key of a map. */
export function textOf({ folder, name }: FileKey): string {
  return `${folder}/${name}`
}

/** A file with its path below the mirror. */
export interface FileAtPath extends FileRow {
  path: string
}

/** The condition that a file may still have the bytes of its image: it is as large as the image, and was not read yet. */
export const mayBeSame = `files.hash IS NULL AND image IS NOT NULL
     AND files.size IN (SELECT images.size FROM images WHERE images.id = files.image
       UNION ALL SELECT delivered.size FROM delivered WHERE delivered.image = files.image)`

/** The synced files with these bytes, as SQL text for FROM. */
export const withBytes = (hash: string) =>
  `files ON files.image IN ${idsWith(hash)} AND files.hash = ${hash} AND files.state = 'synced'`

/** The condition that a file has no proved image, word for word as its index says it. */
const IS_OPEN = `(files.state = 'pending' OR files.state = 'uncertain' OR files.state = 'failed' OR files.state = 'linked')`

/** The files without a proved image that have the bytes of an image (`of`), or are not read yet and may have them. SQL text. */
export const openLike = (of: string) =>
  `files INDEXED BY files_open_by_size ON files.size = ${of}.size AND (files.hash IS NULL OR files.hash = ${of}.hash)
     AND ${IS_OPEN}`

/** The files as the last scan saw them, each with the image that it uses. */
export function openFiles({ all, changes, get, has, kept, one, run }: Statements) {
  // SQLite uses a partial index only when the query repeats its condition.
  const ofMirrors = `state = 'pending' AND state <> 'synced' AND ${IN_MIRRORS}`
  const pendingAfter = (comparison: '<' | '>', direction: 'ASC' | 'DESC') =>
    all<[OfMirrors & ByTime], FileRow>(
      `SELECT files.* FROM files CROSS JOIN folders ON folders.id = files.folder
       WHERE ${ofMirrors} AND (mtime, folder, name) ${comparison} (+@mtime, +@folder, +@name)
       ORDER BY mtime ${direction}, folder ${direction}, name ${direction} LIMIT 256`,
    )
  const next = { newest: pendingAfter('<', 'DESC'), oldest: pendingAfter('>', 'ASC') }
  const beginning = {
    newest: { mtime: Number.MAX_SAFE_INTEGER, folder: Number.MAX_SAFE_INTEGER, name: '' },
    oldest: { mtime: Number.MIN_SAFE_INTEGER, folder: 0, name: '' },
  }
  const anyPending = has<[OfMirrors]>(
    `SELECT 1 FROM files CROSS JOIN folders ON folders.id = files.folder WHERE ${ofMirrors} LIMIT 1`,
  )
  const countToSend = one<[OfMirrors], { pictures: number; bytes: number; compare: number }>(
    `SELECT ifnull(sum(NOT same), 0) AS pictures, ifnull(sum(size * NOT same), 0) AS bytes, ifnull(sum(same), 0) AS compare
     FROM (SELECT size, ${mayBeSame} AS same
       FROM files CROSS JOIN folders ON folders.id = files.folder WHERE ${ofMirrors})`,
  )
  const toSend = kept('files', (mirrors: string) => countToSend({ mirrors }))
  // The query names its index. Otherwise SQLite would take the index of all files that are not synced, which is slower.
  const newlyPending = all<
    [OfMirrors & FileKey & { from: number; since: number | null; most: number }],
    FileRow
  >(
    `SELECT files.* FROM files INDEXED BY files_pending_since CROSS JOIN folders ON folders.id = files.folder
     WHERE state = 'pending' AND since >= +@from AND (since, folder, name) < (+@since, +@folder, +@name)
       AND ${IN_MIRRORS}
     ORDER BY since DESC, folder DESC, name DESC LIMIT +@most`,
  )
  // The query names its index. Otherwise SQLite would take the index of all files that are not synced, which is slower.
  const notCompared = all<[OfMirrors & FileKey], FileRow>(
    `SELECT files.* FROM files INDEXED BY files_to_compare CROSS JOIN folders ON folders.id = files.folder
     WHERE state = 'pending' AND image IS NOT NULL AND hash IS NULL AND (folder, name) > (+@folder, +@name)
       AND ${IN_MIRRORS}
     ORDER BY folder, name LIMIT 256`,
  )
  const ofUnusedSize = all<[OfMirrors & FileKey & { running: number }], FileRow>(
    `SELECT files.* FROM (SELECT size FROM images WHERE kept = 1
         UNION SELECT own.size FROM escrow JOIN (
             SELECT id, size FROM images UNION ALL SELECT image, size FROM delivered) AS own ON own.id = escrow.image
           WHERE escrow.state <> 'held' AND due_at <= @running) AS unused
       CROSS JOIN files INDEXED BY files_open_by_size ON files.size = unused.size
       CROSS JOIN folders ON folders.id = files.folder
     WHERE ${IS_OPEN} AND state = 'pending'
       AND image IS NULL AND hash IS NULL AND (files.folder, name) > (+@folder, +@name)
       AND ${IN_MIRRORS}
     ORDER BY files.folder, name LIMIT 256`,
  )
  const foldersAfter = all<
    [{ mirror: number; after: string; end: string | Buffer }],
    { id: number; path: string }
  >(
    `SELECT id, path FROM folders WHERE mirror = +@mirror AND path > +@after AND path < +@end ORDER BY path LIMIT 256`,
  )
  const folderAt = get<[mirror: number, path: string], { id: number; path: string }>(
    'SELECT id, path FROM folders WHERE mirror = ? AND path = ?',
  )
  const inFolder = all<[folder: number, after: string], FileRow>(
    'SELECT * FROM files WHERE folder = +? AND name > +? ORDER BY name LIMIT 512',
  )
  const columns = [
    'size',
    'mtime',
    'ctime',
    'ino',
    'state',
    'since',
    'image',
    'hash',
    'flat',
    'folder',
    'name',
  ] as const
  // Written out, which takes half as long as reading the columns by their names.
  const valuesOf = (r: FileRow) =>
    [r.size, r.mtime, r.ctime, r.ino, r.state, r.since, r.image, r.hash, r.flat, r.folder, r.name] as const
  const update = changes(
    `UPDATE files SET ${columns.slice(0, -2).map(column => `${column} = ?`)} WHERE folder = +? AND name = +?`,
  )
  const adds = ADDED_AT_ONCE.map(rows => {
    const values = Array(rows).fill(`(${columns.map(() => '?')})`)
    return [rows, run(`INSERT INTO files (${columns}) VALUES ${values}`)] as const
  })
  /** Adds the records of files that have no record. Many rows go into one statement, because that is quicker. */
  function add(rows: readonly FileRow[]): void {
    let from = 0
    for (const [count, insert] of adds)
      for (; rows.length - from >= count; from += count)
        insert(...rows.slice(from, from + count).flatMap(valuesOf))
  }
  const remove = run<[FileKey]>('DELETE FROM files WHERE folder = @folder AND name = @name')
  const forgetResend = run<[FileKey]>('DELETE FROM resend WHERE folder = @folder AND name = @name')

  function* foldersFrom(mirror: number, path: string): Generator<{ id: number; path: string }> {
    const self = folderAt(mirror, path)
    if (self) yield self
    const { after: first, end } = boundsBelow(path)
    yield* pages(after => foldersAfter({ mirror, after: after?.path ?? first, end }))
  }

  return {
    reads: {
      ofFolder: all<[folder: number], FileRow>('SELECT * FROM files WHERE folder = +?'),
      at: get<[FileKey], FileRow>('SELECT * FROM files WHERE folder = @folder AND name = @name'),
      /** The files at and below a folder, in the order of their paths. '' is the root. */
      *below(mirror: number, path: string): Generator<FileAtPath> {
        for (const folder of foldersFrom(mirror, path))
          for (const file of pages<FileRow>(after => inFolder(folder.id, after?.name ?? '')))
            yield { ...file, path: folder.path === '' ? file.name : `${folder.path}/${file.name}` }
      },
      /** The pending files in the order of their mtime. Each is given once, even when it changes meanwhile. */
      pending: (order: 'newest' | 'oldest', mirrors: readonly number[]) =>
        filesAfter(beginning[order], after => next[order]({ ...of(mirrors), ...after })),
      /** The files that became pending at `from` or later, the latest first. Each file is given once. */
      pendingSince: (from: number, mirrors: readonly number[], most = 256) =>
        filesAfter({ since: Number.MAX_SAFE_INTEGER, ...FIRST }, after =>
          newlyPending({ ...of(mirrors), ...after, from, most }),
        ),
      /** Pending files with an image that were not read, so they may still have its bytes. Each is given once. */
      notCompared: (mirrors: readonly number[]) =>
        filesAfter(FIRST, after => notCompared({ ...of(mirrors), ...after })),
      /** New files as large as an image that perhaps no file uses: an image that is due at this running time, or that stays for
       * good. The image's picture may have moved there, which only the bytes can tell. Each is given once. */
      perhapsOfUnused: (mirrors: readonly number[], running: number) =>
        filesAfter(FIRST, after => ofUnusedSize({ ...of(mirrors), ...after, running })),
      anyPending: (mirrors: readonly number[]) => anyPending(of(mirrors)),
      /** Whether more than `pictures` files are pending. */
      arePending: has<[pictures: number]>(
        `SELECT 1 FROM files WHERE state = 'pending' AND state <> 'synced' LIMIT 1 OFFSET ?`,
      ),
      /** How much of the pending files is to be sent, and how many files are to be compared with their image first. */
      toSend: (mirrors: readonly number[]) => toSend(of(mirrors).mirrors),
      /** Whether a pending file is to be compared with its image first. */
      isToCompare: has<[FileKey]>(
        `SELECT 1 FROM files WHERE folder = @folder AND name = @name AND ${mayBeSame}`,
      ),
      onImage: all<[image: number], FileRow>('SELECT * FROM files WHERE image = ?'),
      /** Files of this size without a proved image. A picture of the same size may have been moved to one of them. */
      openOfSize: all<[size: number], FileRow>(`SELECT * FROM files WHERE ${IS_OPEN} AND size = +?`),
      /** A file without a proved image that has the bytes of an image, recorded or not, or is not read yet and may have them. */
      openLike: get<[OfImage], FileRow>(
        `SELECT files.* FROM (SELECT hash, size FROM ${lostBytes('@id')} UNION ALL
           SELECT @hash, @size WHERE NOT EXISTS (SELECT 1 FROM images WHERE id = @id)) AS lost CROSS JOIN ${openLike('lost')}
         ORDER BY files.hash IS NULL, name <> @name LIMIT 1`,
      ),
      /** A synced file with the bytes of an image, preferably one with this name. */
      withBytes: get<[OfImage], FileRow>(
        `SELECT files.* FROM ${lostBytes('@id')} AS lost
         CROSS JOIN ${withBytes('lost.hash')} ORDER BY files.name <> @name LIMIT 1`,
      ),
      /** Files whose images may have what is taken out now. */
      madeLess: all<[MadeLess], FileRow>(
        `SELECT files.* FROM images CROSS JOIN files ON files.image = images.id
         WHERE ${MADE_LESS} AND (files.state = 'synced' OR files.state = 'linked')`,
      ),
      /** Files with the bytes of an image in escrow that are linked to another whose bytes are not compared yet. */
      linkedLike: all<[OfImage], FileRow>(
        `SELECT files.* FROM ${lostBytes('@id')} AS lost CROSS JOIN ${openLike('lost')}
         AND state = 'linked' AND image <> @id`,
      ),
      /** At most `most` recorded files of a folder, also hidden ones, but none that is kept. */
      someOf: all<[folder: number, most: number], FileRow>(
        `SELECT * FROM files WHERE folder = +? AND state <> 'kept' LIMIT +?`,
      ),
      /** The files in one state. The state synced is not possible, because the index does not contain synced files. */
      inState: all<[state: Exclude<FileState, 'synced'>], FileRow>(
        `SELECT * FROM files WHERE state = ? AND state <> 'synced' ORDER BY folder, name`,
      ),
      anyOfMirror: has<[mirror: number]>(
        'SELECT 1 FROM folders JOIN files ON files.folder = folders.id WHERE mirror = +? LIMIT 1',
      ),
    },
    writes: {
      add,
      put(row: FileRow): void {
        // An update is quicker than an insert with a conflict.
        if (update(...valuesOf(row)) === 0) add([row])
      },
      retry: run<[FileKey]>(
        `UPDATE files SET state = 'pending' WHERE folder = @folder AND name = @name AND state = 'failed'`,
      ),
      remove(file: FileKey): void {
        remove(file)
        forgetResend(file)
      },
    },
  }
}

/** Files whose upload was in doubt, and that a person asked to send again in spite of this (`retry --resend`). */
export function openResend({ has, isEmpty, run }: Statements) {
  const hasRow = has<[FileKey]>('SELECT folder FROM resend WHERE folder = @folder AND name = @name')
  return {
    reads: {
      has: (file: FileKey) => !isEmpty('resend') && hasRow(file),
    },
    writes: {
      put: run<[FileKey]>('INSERT OR IGNORE INTO resend (folder, name) VALUES (@folder, @name)'),
      remove: run<[FileKey]>('DELETE FROM resend WHERE folder = @folder AND name = @name'),
      forget: run<[]>('DELETE FROM resend'),
    },
  }
}

/** How many new rows go into one statement. The largest number that still fits is used first. */
const ADDED_AT_ONCE = [50, 10, 1]

/** An image whose picture is looked for. The bytes that a restore has written of the image count as the picture's bytes too. */
type OfImage = Bytes & { id: number; name: string }
type ByTime = FileKey & { mtime: number }
type OfMirrors = ReturnType<typeof of>

/** The condition that a file is of the mirrors that `of` binds. */
const IN_MIRRORS = 'mirror IN (SELECT value FROM json_each(+@mirrors))'
const of = (mirrors: readonly number[]) => ({ mirrors: JSON.stringify(mirrors) })

/** A key that comes before every file, in the order of folders and names. */
const FIRST: FileKey = { folder: 0, name: '' }

/** The files of a query that reads page by page, in the order of the columns of `first`, whose values precede every file. */
function filesAfter<First extends Partial<FileRow>>(
  first: First,
  page: (after: First) => FileRow[],
): Generator<FileRow> {
  return pages<FileRow>(after => page({ ...first, ...after }))
}
