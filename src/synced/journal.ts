import type { Db } from './database.ts'

/** An upload that is about to be sent: enough to find out later whether it arrived. */
export interface UploadIntent {
  folder: number
  name: string
  size: number
  mtime: number
  hash: Buffer
  mime: string
  width: number | null
  height: number | null
  /** Null for the presign form, which tells it afterwards. */
  cdn_url: string | null
  album: number | null
}

export interface JournalRow {
  id: number
  kind: 'upload' | 'create_album' | 'delete_image'
  since: number
  folder: number | null
  name: string | null
  size: number | null
  mtime: number | null
  hash: Buffer | null
  album: number | null
  album_name: string | null
  image: number | null
}

/** Intent before effect: what changes the host stands here first. Each `open…` answers the entry's id. */
export function openJournal(db: Db) {
  const upload = db.prepare<UploadIntent & { since: number }>(
    `INSERT INTO journal (kind, since, folder, name, size, mtime, hash, mime, width, height, cdn_url, album)
     VALUES ('upload', @since, @folder, @name, @size, @mtime, @hash, @mime, @width, @height, @cdn_url, @album)`,
  )
  const createAlbum = db.prepare<[number, number | null, string]>(
    `INSERT INTO journal (kind, since, album, album_name) VALUES ('create_album', ?, ?, ?)`,
  )
  const deleteImage = db.prepare<[number, number]>(
    `INSERT INTO journal (kind, since, image) VALUES ('delete_image', ?, ?)`,
  )
  const forgetImage = db.prepare<[number]>('DELETE FROM journal WHERE image = ?')
  const open = db.prepare<[], JournalRow>('SELECT * FROM journal ORDER BY id')
  const openOnFile = db.prepare<[number, string], JournalRow>(
    `SELECT * FROM journal WHERE kind = 'upload' AND folder = ? AND name = ?`,
  )
  const deletionOf = db.prepare<[number], JournalRow>(
    `SELECT * FROM journal WHERE image = ? AND kind = 'delete_image'`,
  )
  const close = db.prepare<[number]>('DELETE FROM journal WHERE id = ?')

  return {
    openUpload: (intent: UploadIntent, since: number) =>
      Number(upload.run({ ...intent, since }).lastInsertRowid),
    openAlbumCreation: (parent: number | null, name: string, since: number) =>
      Number(createAlbum.run(since, parent, name).lastInsertRowid),
    openImageDeletion: (image: number, since: number) =>
      Number(deleteImage.run(since, image).lastInsertRowid),
    /** The image is gone: no intent may refer to it. */
    forgetImage: (image: number) => void forgetImage.run(image),
    /** A deletion of this image that may have happened. */
    deletionOf: (image: number) => deletionOf.get(image),
    open: () => open.all(),
    /** Uploads of this file whose outcome is not known. */
    openOnFile: (folder: number, name: string) => openOnFile.all(folder, name),
    close: (id: number) => void close.run(id),
  }
}
