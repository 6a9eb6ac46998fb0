import type { FolderLook, LeftOut } from '../../local/look.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import { isBelow } from '../queries.ts'

export interface FolderRow {
  id: number
  mirror: number
  path: string
  /** 0: the folder is absent: it is gone or left out. It is still recorded, because its files have images. */
  present: 0 | 1
  digest: string | null
  ignore_text: string | null
  ignore_gone: 0 | 1
  unknown: Reason | null
  /** How many pictures the last look found. */
  files: number
  /** 1: the folder was a mount point at the last look. */
  mount: 0 | 1
  /** Inode and time of birth at the last look; at a mount point, of what was mounted there. Null: not known. */
  ino: number | null
  birthtime: number | null
  /** 1: a person trusts the folder (`albumd trust`), so what the next look does not find counts as deleted. */
  accept: 0 | 1
}

/** A folder in doubt. `code`: the code of the failure with which the look at it ended, if any. */
export type DoubtfulFolder = FolderRow & { unknown: Reason; code: string | null }

/** The folders as the last scan saw them. */
export function openFolders({ all, column, get, kept, run, value }: Statements) {
  const columns =
    'id, mirror, path, present, digest, ignore_text, ignore_gone, unknown, files, mount, ino, birthtime, accept'
  const at = get<[mirror: number, path: string], FolderRow>(
    `SELECT ${columns} FROM folders WHERE mirror = ? AND path = ?`,
  )
  const insert = run<[mirror: number, path: string]>(
    'INSERT INTO folders (mirror, path) VALUES (?, ?) ON CONFLICT DO UPDATE SET present = 1',
  )
  const isEmpty = `present = 0 AND NOT EXISTS (SELECT 1 FROM files WHERE folder = folders.id)
     AND NOT EXISTS (SELECT 1 FROM journal WHERE kind = 'upload' AND journal.folder = folders.id)
     AND (mount = 0 OR NOT EXISTS (SELECT 1 FROM folders AS below WHERE below.mirror = folders.mirror
       AND ${isBelow('below.path', 'folders.path')}))`
  type Looked = Omit<FolderRow, 'mirror' | 'path' | 'present' | 'ignore_gone' | 'unknown' | 'accept'>
  const setLooked = run<[Looked & LeftOut]>(
    `UPDATE folders SET digest = @digest, ignore_text = @ignore_text, ignore_gone = 0, unknown = NULL, accept = 0,
       mount = @mount, ino = @ino, birthtime = @birthtime, files = @files,
       left_format = @format, left_ignored = @ignored, left_hidden = @hidden, left_empty = @empty, left_links = @links
     WHERE id = @id`,
  )

  return {
    reads: {
      /** How many pictures the last scans found in a mirror. */
      countFiles: value<[mirror: number], number>(
        'SELECT ifnull(sum(files), 0) FROM folders WHERE mirror = +?',
      ),
      /** The folders on the disk, parents before their children. */
      ofMirror: all<[mirror: number], FolderRow>(
        `SELECT ${columns} FROM folders WHERE mirror = +? AND present = 1 ORDER BY path`,
      ),
      /** The paths of folders on the disk that are not in doubt, parents before their children. */
      certain: column<[mirror: number], string>(
        'SELECT path FROM folders WHERE mirror = +? AND present = 1 AND unknown IS NULL ORDER BY path',
      ),
      /** The folders in which files are recorded, including folders and files that are gone. */
      withFiles: all<[mirror: number], { id: number; path: string }>(
        `SELECT id, path FROM folders WHERE mirror = +? AND EXISTS (SELECT 1 FROM files WHERE folder = folders.id) ORDER BY id`,
      ),
      at,
      byId: kept('folders', get<[id: number], FolderRow>(`SELECT ${columns} FROM folders WHERE id = ?`)),
      unknown: all<
        [mirror: number],
        DoubtfulFolder
      >(`SELECT ${columns}, (SELECT code FROM failures WHERE folder = folders.id AND name = '' AND source = 'look') AS code
     FROM folders WHERE mirror = +? AND present = 1 AND unknown IS NOT NULL ORDER BY path`),
      /** The paths of folders that were mount points at their last look. */
      mounts: column<[mirror: number], string>(
        'SELECT path FROM folders WHERE mirror = +? AND present = 1 AND mount = 1 ORDER BY path',
      ),
      absent: all<[mirror: number], FolderRow>(
        `SELECT ${columns} FROM folders WHERE mirror = +? AND present = 0 ORDER BY path`,
      ),
      /** A folder and all recorded folders below it. Not for the root. */
      from: all<[{ mirror: number; path: string }], FolderRow>(
        `SELECT ${columns} FROM folders
         WHERE mirror = +@mirror AND (path = +@path OR (${isBelow()})) ORDER BY path`,
      ),
    },
    writes: {
      add(mirror: number, path: string): FolderRow {
        insert(mirror, path)
        return at(mirror, path)!
      },
      looked(
        id: number,
        digest: string | null,
        ignoreText: string | null,
        { files, leftOut, mount, identity }: Pick<FolderLook, 'files' | 'leftOut' | 'mount' | 'identity'>,
      ): void {
        setLooked({
          id,
          digest,
          ignore_text: ignoreText,
          mount: mount ? 1 : 0,
          ino: identity.ino,
          birthtime: identity.birthtime,
          files: files.length,
          ...leftOut,
        })
      },
      /** Records that a folder is in doubt, and why. */
      setUnknown: run<[{ id: number; unknown: Reason }]>(
        'UPDATE folders SET unknown = @unknown, digest = NULL, accept = 0 WHERE id = @id',
      ),
      /** Forgets the digest. So the next look returns the folder's whole content, which is compared with the records. */
      lookAgain: run<[id: number]>('UPDATE folders SET digest = NULL WHERE id = ?'),
      ignoreGone: run<[id: number]>('UPDATE folders SET ignore_gone = 1 WHERE id = ?'),
      /** The folder is gone or left out. Its row stays while its files have images; that of a mount point while it is left
       * out. */
      gone: run<
        [id: number]
      >(`UPDATE folders SET present = 0, digest = NULL, unknown = NULL, accept = 0, ignore_text = NULL, files = 0, left_format = 0,
       left_ignored = 0, left_hidden = 0, left_empty = 0, left_links = 0 WHERE id = ?`),
      unmounted: run<[id: number]>('UPDATE folders SET mount = 0 WHERE id = ?'),
      accept: run<[id: number]>('UPDATE folders SET accept = 1 WHERE id = ?'),
      /** Removes the record of a folder that is gone, unless a file, an open upload or a folder that is on the disk needs it. */
      removeIfEmpty: run<[id: number]>(`DELETE FROM folders WHERE id = ? AND ${isEmpty}`),
    },
  }
}
