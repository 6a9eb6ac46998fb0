import { PER_PAGE } from '../../protocol/limits.ts'
import type { Db } from './database.ts'

export interface ImageRow {
  seq: number
  id: string
  account: number
  album: number
  name: string
  size: number
  mime: string
  width: number | null
  height: number | null
  sha256: string
  /** The name under which the picture store holds the bytes. */
  file: string
  created_at: number
}

export type NewImage = Omit<ImageRow, 'seq'>

export type Images = ReturnType<typeof openImages>

/** Call functions that write in a transaction, because the account's stored bytes change with the rows. */
export function openImages(db: Db) {
  const byId = db.prepare<[string], ImageRow>('SELECT * FROM images WHERE id = ?')
  const byFile = db.prepare<[string], number>('SELECT 1 FROM images WHERE file = ?').pluck()
  const insert = db.prepare<[NewImage & { seq: number | null }]>(
    `INSERT INTO images (seq, id, account, album, name, size, mime, width, height, sha256, file, created_at)
     VALUES (@seq, @id, @account, @album, @name, @size, @mime, @width, @height, @sha256, @file, @created_at)`,
  )
  const remove = db.prepare<[number]>('DELETE FROM images WHERE seq = ?')
  const removeTree = db.prepare<[number], Pick<ImageRow, 'file' | 'size'>>(
    `WITH RECURSIVE tree (seq) AS (VALUES (?) UNION ALL SELECT a.seq FROM albums a JOIN tree ON a.parent = tree.seq)
     DELETE FROM images WHERE album IN (SELECT seq FROM tree) RETURNING file, size`,
  )
  const count = db.prepare<[number], number>('SELECT count(*) FROM images WHERE album = +?').pluck()
  const page = db.prepare<[number, number, number], ImageRow>(
    `SELECT * FROM images
     WHERE seq IN (SELECT seq FROM images WHERE album = +? ORDER BY seq LIMIT +? OFFSET +?) ORDER BY seq`,
  )
  const stored = db.prepare<[number], number>('SELECT stored_bytes FROM accounts WHERE id = ?').pluck()
  const addStored = db.prepare<[number, number]>(
    'UPDATE accounts SET stored_bytes = stored_bytes + ? WHERE id = ?',
  )

  return {
    byId: (id: string) => byId.get(id),
    hasFile: (file: string) => byFile.get(file) !== undefined,
    insert(image: NewImage): void {
      insert.run({ ...image, seq: null })
      addStored.run(image.size, image.account)
    },
    remove(image: ImageRow): void {
      remove.run(image.seq)
      addStored.run(-image.size, image.account)
    },
    /** Undoes a removal. The image gets its old position in the listing again. */
    putBack(image: ImageRow): void {
      insert.run(image)
      addStored.run(image.size, image.account)
    },
    /** Deletes the images of an album and of all albums below it. Returns the names of their files. */
    removeTree(account: number, album: number): string[] {
      const removed = removeTree.all(album)
      addStored.run(-removed.reduce((bytes, image) => bytes + image.size, 0), account)
      return removed.map(image => image.file)
    },
    count: (album: number) => count.get(album)!,
    page: (album: number, number: number) => page.all(album, PER_PAGE, (number - 1) * PER_PAGE),
    storedBytes: (account: number) => stored.get(account)!,
  }
}
