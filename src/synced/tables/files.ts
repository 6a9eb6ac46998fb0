import type { FileLook } from '../../local/look.ts'
import type { Db } from '../database.ts'
import { statements } from '../statements.ts'

/**
 * pending: the file must be hashed, and uploaded when its bytes are new.
 * synced: its image has its bytes.
 * linked: an image on the host has its name, dimensions and size; the bytes are not compared yet.
 * uncertain: its upload is in doubt.
 * failed: its last upload failed.
 * gone: it is not on the disk any more; its image is in escrow.
 * kept: it is not on the disk any more; its image stays for good.
 * hidden: it is left out (ignored, empty, a link); its image stays.
 */
export type FileState = 'pending' | 'synced' | 'linked' | 'uncertain' | 'failed' | 'gone' | 'kept' | 'hidden'

export interface FileRow extends FileLook {
  folder: number
  state: FileState
  since: number | null
  image: number | null
  hash: Buffer | null
}

export type FileKey = Pick<FileRow, 'folder' | 'name'>

type Cursor = Pick<FileRow, 'mtime' | 'folder' | 'name'>

/** The files as the last scan saw them, each with the image that it uses. */
export function openFiles(db: Db) {
  const { all, get, run } = statements(db)
  const at = db.prepare<[number, string], FileRow>('SELECT * FROM files WHERE folder = ? AND name = ?')
  // SQLite uses the index of open files only when the query repeats the index's condition.
  const ofMirrors = `state = 'pending' AND state <> 'synced' AND mirror IN (SELECT value FROM json_each(+@mirrors))`
  const pendingAfter = (comparison: '<' | '>', direction: 'ASC' | 'DESC') =>
    db.prepare<Cursor & { mirrors: string; most: number }, FileRow>(
      `SELECT files.* FROM files CROSS JOIN folders ON folders.id = files.folder
       WHERE ${ofMirrors} AND (mtime, folder, name) ${comparison} (+@mtime, +@folder, +@name)
       ORDER BY mtime ${direction}, folder ${direction}, name ${direction} LIMIT +@most`,
    )
  const next = { newest: pendingAfter('<', 'DESC'), oldest: pendingAfter('>', 'ASC') }
  const beginning = {
    newest: { mtime: Number.MAX_SAFE_INTEGER, folder: Number.MAX_SAFE_INTEGER, name: '' },
    oldest: { mtime: Number.MIN_SAFE_INTEGER, folder: 0, name: '' },
  }
  const anyPending = db.prepare<{ mirrors: string }, { any: number }>(
    `SELECT EXISTS (SELECT 1 FROM files CROSS JOIN folders ON folders.id = files.folder WHERE ${ofMirrors}) AS any`,
  )
  const pendingTotal = db.prepare<{ mirrors: string }, { pictures: number; bytes: number }>(
    `SELECT count(*) AS pictures, ifnull(sum(size), 0) AS bytes
     FROM files CROSS JOIN folders ON folders.id = files.folder WHERE ${ofMirrors}`,
  )
  // The index is named, because SQLite would take the index of all open files.
  const newlyPending = db.prepare<
    { since: number; below: number; folder: number; name: string; mirrors: string; most: number },
    FileRow
  >(
    `SELECT files.* FROM files INDEXED BY files_pending_since CROSS JOIN folders ON folders.id = files.folder
     WHERE state = 'pending' AND since >= +@since AND (since, folder, name) < (+@below, +@folder, +@name)
       AND mirror IN (SELECT value FROM json_each(+@mirrors))
     ORDER BY since DESC, folder DESC, name DESC LIMIT +@most`,
  )
  // The index is named, because SQLite would take the index of all open files.
  const notCompared = db.prepare<FileKey & { mirrors: string }, FileRow>(
    `SELECT files.* FROM files INDEXED BY files_to_compare CROSS JOIN folders ON folders.id = files.folder
     WHERE state = 'pending' AND image IS NOT NULL AND hash IS NULL AND (folder, name) > (+@folder, +@name)
       AND mirror IN (SELECT value FROM json_each(+@mirrors))
     ORDER BY folder, name LIMIT 256`,
  )
  const openLike = db.prepare<[number, Buffer], FileRow>(
    `SELECT * FROM files WHERE state IN ('pending','uncertain','failed','linked') AND size = +?
       AND (hash IS NULL OR hash = +?) LIMIT 1`,
  )
  const linkedTo = db.prepare<[number, Buffer], FileRow>(
    `SELECT * FROM files WHERE state IN ('pending','uncertain','failed','linked') AND size = +?
       AND state = 'linked' AND hash = +?`,
  )
  const forgetResend = db.prepare<[number, string]>('DELETE FROM resend WHERE folder = ? AND name = ?')
  const anyOfMirror = db.prepare<[number], { any: number }>(
    `SELECT EXISTS (SELECT 1 FROM folders JOIN files ON files.folder = folders.id WHERE mirror = +?) AS any`,
  )
  const retry = db.prepare<[number, string]>(
    `UPDATE files SET state = 'pending' WHERE folder = ? AND name = ? AND state = 'failed'`,
  )
  const remove = db.prepare<[number, string]>('DELETE FROM files WHERE folder = ? AND name = ?')

  return {
    reads: {
      ofFolder: all<[folder: number], FileRow>('SELECT * FROM files WHERE folder = +?'),
      at: ({ folder, name }: FileKey) => at.get(folder, name),
      /** The files that wait for their upload at this moment. Each is given once, whatever its state becomes meanwhile. */
      *pending(order: 'newest' | 'oldest', mirrors: readonly number[]): Generator<FileRow> {
        let cursor: Cursor = beginning[order]
        for (;;) {
          const rows = next[order].all({ ...cursor, mirrors: JSON.stringify(mirrors), most: 256 })
          yield* rows
          const last = rows.at(-1)
          if (!last) return
          cursor = { mtime: last.mtime, folder: last.folder, name: last.name }
        }
      },
      /** The files that have waited since this time or later, the latest first. Each is given once. */
      *pendingSince(since: number, mirrors: readonly number[], most = 256): Generator<FileRow> {
        const of = { since, mirrors: JSON.stringify(mirrors), most }
        let after = { below: Number.MAX_SAFE_INTEGER, folder: 0, name: '' }
        for (;;) {
          const rows = newlyPending.all({ ...of, ...after })
          yield* rows
          const last = rows.at(-1)
          if (!last) return
          after = { below: last.since!, folder: last.folder, name: last.name }
        }
      },
      /** Pending files that used an image and may still use it. Only their bytes can tell. Each is given once. */
      *notCompared(mirrors: readonly number[]): Generator<FileRow> {
        let after: FileKey = { folder: 0, name: '' }
        for (;;) {
          const rows = notCompared.all({
            folder: after.folder,
            name: after.name,
            mirrors: JSON.stringify(mirrors),
          })
          yield* rows
          const last = rows.at(-1)
          if (!last) return
          after = last
        }
      },
      anyPending: (mirrors: readonly number[]) =>
        anyPending.get({ mirrors: JSON.stringify(mirrors) })!.any === 1,
      pendingTotal: (mirrors: readonly number[]) => pendingTotal.get({ mirrors: JSON.stringify(mirrors) })!,
      onImage: all<[image: number], FileRow>('SELECT * FROM files WHERE image = ?'),
      /** Files without an image that may be a picture with these bytes which was elsewhere before. */
      openOfSize: all<[size: number], FileRow>(
        `SELECT * FROM files WHERE state IN ('pending','uncertain','failed','linked') AND size = +?`,
      ),
      /** A file without an image that may have these bytes, or none. */
      openLike: (hash: Buffer, size: number) => openLike.all(size, hash),
      /** A synced file with these bytes, or none. */
      withBytes: get<
        [hash: Buffer],
        FileRow
      >(`SELECT files.* FROM images JOIN files ON files.image = images.id
     WHERE images.hash = +? AND files.state = 'synced' LIMIT 1`),
      /** Files with these bytes that are only linked to their image. */
      linkedTo: (hash: Buffer, size: number) => linkedTo.all(size, hash),
      /** Some of the recorded files of a folder, hidden files included. */
      someOf: all<[folder: number, most: number], FileRow>(
        `SELECT * FROM files WHERE folder = +? AND state <> 'kept' LIMIT +?`,
      ),
      /** The files in any state but synced. */
      inState: all<[state: Exclude<FileState, 'synced'>], FileRow>(
        `SELECT * FROM files WHERE state = ? AND state <> 'synced' ORDER BY folder, name`,
      ),
      anyOfMirror: (mirror: number) => anyOfMirror.get(mirror)!.any === 1,
    },
    writes: {
      put: run<
        [row: FileRow]
      >(`INSERT INTO files (folder, name, size, mtime, ctime, ino, state, since, image, hash)
     VALUES (@folder, @name, @size, @mtime, @ctime, @ino, @state, @since, @image, @hash)
     ON CONFLICT DO UPDATE SET size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime,
       ino = excluded.ino, state = excluded.state, since = excluded.since, image = excluded.image, hash = excluded.hash`),
      /** Makes a failed file pending again. */
      retry: ({ folder, name }: FileKey) => void retry.run(folder, name),
      remove({ folder, name }: FileKey): void {
        remove.run(folder, name)
        forgetResend.run(folder, name)
      },
    },
  }
}
