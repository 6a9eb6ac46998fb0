import type { LeftOut } from '../local/look.ts'
import type { Db } from './database.ts'

export interface FolderRow {
  id: number
  mirror: number
  path: string
  digest: string | null
  ignore_text: string | null
  ignore_gone: 0 | 1
  unknown: string | null
}

/** The folders as last looked at. */
export function openFolders(db: Db) {
  const columns = 'id, mirror, path, digest, ignore_text, ignore_gone, unknown'
  const ofMirror = db.prepare<[number], FolderRow>(
    `SELECT ${columns} FROM folders WHERE mirror = ? AND present = 1 ORDER BY path`,
  )
  const withFiles = db.prepare<[number], Pick<FolderRow, 'id' | 'path'>>(
    `SELECT id, path FROM folders WHERE mirror = ? AND EXISTS (SELECT 1 FROM files WHERE folder = folders.id) ORDER BY id`,
  )
  const at = db.prepare<[number, string], FolderRow>(
    `SELECT ${columns} FROM folders WHERE mirror = ? AND path = ?`,
  )
  const byId = db.prepare<[number], FolderRow>(`SELECT ${columns} FROM folders WHERE id = ?`)
  const unknown = db.prepare<[number], FolderRow>(
    `SELECT ${columns} FROM folders WHERE mirror = ? AND present = 1 AND unknown IS NOT NULL ORDER BY path`,
  )
  const insert = db.prepare<[number, string]>(
    'INSERT INTO folders (mirror, path) VALUES (?, ?) ON CONFLICT DO UPDATE SET present = 1',
  )
  const setLooked = db.prepare<
    [string | null, string | null, number, number, number, number, number, number, number]
  >(
    `UPDATE folders SET digest = ?, ignore_text = ?, ignore_gone = 0, unknown = NULL, files = ?, left_format = ?, left_ignored = ?,
       left_hidden = ?, left_empty = ?, left_links = ? WHERE id = ?`,
  )
  const setUnknown = db.prepare<[string, number]>(
    'UPDATE folders SET unknown = ?, digest = NULL WHERE id = ?',
  )
  const setIgnoreGone = db.prepare<[number]>('UPDATE folders SET ignore_gone = 1 WHERE id = ?')
  const setGone = db.prepare<[number]>(
    `UPDATE folders SET present = 0, digest = NULL, unknown = NULL, ignore_text = NULL, files = 0, left_format = 0, left_ignored = 0,
       left_hidden = 0, left_empty = 0, left_links = 0 WHERE id = ?`,
  )
  const removeIfEmpty = db.prepare<[number]>(
    'DELETE FROM folders WHERE id = ? AND present = 0 AND NOT EXISTS (SELECT 1 FROM files WHERE folder = folders.id)',
  )

  return {
    /** Those that are there, parents before their children. */
    ofMirror: (mirror: number) => ofMirror.all(mirror),
    /** Those with records of files, also where they or their files are gone. */
    withFiles: (mirror: number) => withFiles.all(mirror),
    at: (mirror: number, path: string) => at.get(mirror, path),
    byId: (id: number) => byId.get(id),
    /** Those that could not be read. */
    unknown: (mirror: number) => unknown.all(mirror),
    add(mirror: number, path: string): FolderRow {
      insert.run(mirror, path)
      return at.get(mirror, path)!
    },
    looked(
      id: number,
      digest: string | null,
      ignoreText: string | null,
      files: number,
      leftOut: LeftOut,
    ): void {
      const { format, ignored, hidden, empty, links } = leftOut
      setLooked.run(digest, ignoreText, files, format, ignored, hidden, empty, links, id)
    },
    /** It could not be read: what it holds is not known. */
    setUnknown(id: number, reason: string): void {
      setUnknown.run(reason, id)
    },
    /** Its ignore file is not where it was. */
    ignoreGone: (id: number) => void setIgnoreGone.run(id),
    /** It is no longer there; its row stays while its files still have images. */
    gone: (id: number) => void setGone.run(id),
    /** Forgets one that is gone and whose files are all settled. */
    removeIfEmpty: (id: number) => void removeIfEmpty.run(id),
  }
}
