import type { Db } from '../database.ts'
import type { FileKey } from './files.ts'

/** The intent of an upload. It holds what recovery needs to find out whether the upload arrived. */
export interface UploadIntent {
  folder: number
  name: string
  size: number
  mtime: number
  hash: Buffer
  mime: string
  width: number | null
  height: number | null
  /** Null for the presign form, which names the address only in its answer. */
  cdn_url: string | null
  /** Only the presign form names the image's id before the bytes are sent. */
  remote_id: string | null
  album: number | null
}

/** An upload without a known outcome. */
export interface OpenUpload extends UploadIntent {
  id: number
  since: number
  /** Monotonic milliseconds of this boot. */
  sent_at: number
}

/** The creation of an album without a known outcome. */
export interface OpenCreation {
  id: number
  /** The row of the parent album; null is the root. */
  album: number | null
  album_name: string
  sent_at: number
}

export interface JournalRow {
  id: number
  kind: 'upload' | 'create_album' | 'delete_image'
  since: number
  sent_at: number
  folder: number | null
  name: string | null
  size: number | null
  mtime: number | null
  hash: Buffer | null
  album: number | null
  album_name: string | null
  image: number | null
}

/** When an intent is opened: milliseconds since 1970, and monotonic milliseconds. */
export interface IntentTime {
  since: number
  sent_at: number
}

/** Intents of requests that change the host. Each `open…` answers the entry's id. */
export function openJournal(db: Db) {
  const upload = db.prepare<UploadIntent & IntentTime>(
    `INSERT INTO journal (kind, since, sent_at, folder, name, size, mtime, hash, mime, width, height, cdn_url, remote_id, album)
     VALUES ('upload', @since, @sent_at, @folder, @name, @size, @mtime, @hash, @mime, @width, @height, @cdn_url, @remote_id, @album)`,
  )
  const createAlbum = db.prepare<IntentTime & { parent: number | null; name: string }>(
    `INSERT INTO journal (kind, since, sent_at, album, album_name)
     VALUES ('create_album', @since, @sent_at, @parent, @name)`,
  )
  const openUploads = db.prepare<[], OpenUpload>(`SELECT * FROM journal WHERE kind = 'upload' ORDER BY id`)
  const openCreation = db.prepare<[number, string], OpenCreation>(
    `SELECT * FROM journal WHERE kind = 'create_album' AND coalesce(album, 0) = ? AND album_name = ?`,
  )
  const restartClocks = db.prepare<[number]>('UPDATE journal SET sent_at = ?')
  const oldest = db.prepare<[], { at: number | null }>(
    `SELECT min(sent_at) AS at FROM journal WHERE kind <> 'delete_image'`,
  )
  const deleteImage = db.prepare<[number, number]>(
    `INSERT INTO journal (kind, since, image) VALUES ('delete_image', ?, ?)`,
  )
  const forgetImage = db.prepare<[number]>('DELETE FROM journal WHERE image = ?')
  const open = db.prepare<[], JournalRow>('SELECT * FROM journal ORDER BY id')
  const openOnFile = db.prepare<[number, string], OpenUpload>(
    `SELECT * FROM journal WHERE kind = 'upload' AND folder = ? AND name = ?`,
  )
  const deletionOf = db.prepare<[number], JournalRow>(
    `SELECT * FROM journal WHERE image = ? AND kind = 'delete_image'`,
  )
  const close = db.prepare<[number]>('DELETE FROM journal WHERE id = ?')

  const newestCreation = db.prepare<[], { at: number | null }>(
    `SELECT max(sent_at) AS at FROM journal WHERE kind = 'create_album'`,
  )

  return {
    reads: {
      openUploads: () => openUploads.all(),
      /** The open creation of an album of this name in `parent`, if any. */
      openCreation: (parent: number | null, name: string) => openCreation.get(parent ?? 0, name),
      /** When the newest open creation was sent; null when none is open. */
      newestCreation: () => newestCreation.get()!.at,
      /** When the oldest open upload or creation was sent; null when none is open. */
      oldestInDoubt: () => oldest.get()!.at,
      /** The open deletion of an image, if any. */
      deletionOf: (image: number) => deletionOf.get(image),
      open: () => open.all(),
      /** The open uploads of a file. */
      openOnFile: ({ folder, name }: FileKey) => openOnFile.all(folder, name),
    },
    writes: {
      openUpload: (intent: UploadIntent, time: IntentTime) =>
        Number(upload.run({ ...intent, ...time }).lastInsertRowid),
      openAlbumCreation: (parent: number | null, name: string, time: IntentTime) =>
        Number(createAlbum.run({ ...time, parent, name }).lastInsertRowid),
      /** After a boot the monotonic clock begins anew, and so do recorded times. */
      restartClocks: (monotonic: number) => void restartClocks.run(monotonic),
      openImageDeletion: (image: number, since: number) =>
        Number(deleteImage.run(since, image).lastInsertRowid),
      /** Forgets the intents of an image that is gone. */
      forgetImage: (image: number) => void forgetImage.run(image),
      close: (id: number) => void close.run(id),
    },
  }
}
