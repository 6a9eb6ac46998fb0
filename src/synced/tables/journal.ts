import type { Statements } from '../database.ts'
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
export function openJournal({ all, get, insert, run, value }: Statements) {
  return {
    reads: {
      openUploads: all<[], OpenUpload>(`SELECT * FROM journal WHERE kind = 'upload' ORDER BY id`),
      /** The open creation of an album of this name in `parent`, if any. */
      openCreation: get<[parent: number | null, name: string], OpenCreation>(
        `SELECT * FROM journal WHERE kind = 'create_album' AND coalesce(album, 0) = ifnull(?, 0) AND album_name = ?`,
      ),
      /** When the newest open creation was sent; null when none is open. */
      newestCreation: value<[], number | null>(
        `SELECT max(sent_at) FROM journal WHERE kind = 'create_album'`,
      ),
      /** When the oldest open upload or creation was sent; null when none is open. */
      oldestInDoubt: value<[], number | null>(
        `SELECT min(sent_at) FROM journal WHERE kind <> 'delete_image'`,
      ),
      /** The open deletion of an image, if any. */
      deletionOf: get<[image: number], JournalRow>(
        `SELECT * FROM journal WHERE image = ? AND kind = 'delete_image'`,
      ),
      open: all<[], JournalRow>('SELECT * FROM journal ORDER BY id'),
      /** The open uploads of a file. */
      openOnFile: all<[FileKey], OpenUpload>(
        `SELECT * FROM journal WHERE kind = 'upload' AND folder = @folder AND name = @name`,
      ),
    },
    writes: {
      openUpload: insert<[UploadIntent & IntentTime]>(
        `INSERT INTO journal (kind, since, sent_at, folder, name, size, mtime, hash, mime, width, height, cdn_url, remote_id, album)
         VALUES ('upload', @since, @sent_at, @folder, @name, @size, @mtime, @hash, @mime, @width, @height, @cdn_url, @remote_id, @album)`,
      ),
      openAlbumCreation: insert<[IntentTime & { parent: number | null; name: string }]>(
        `INSERT INTO journal (kind, since, sent_at, album, album_name)
         VALUES ('create_album', @since, @sent_at, @parent, @name)`,
      ),
      /** After a boot the monotonic clock begins anew, and so do recorded times. */
      restartClocks: run<[monotonic: number]>('UPDATE journal SET sent_at = ?'),
      openImageDeletion: insert<[image: number, since: number]>(
        `INSERT INTO journal (kind, image, since) VALUES ('delete_image', ?, ?)`,
      ),
      /** Forgets the intents of an image that is gone. */
      forgetImage: run<[image: number]>('DELETE FROM journal WHERE image = ?'),
      close: run<[id: number]>('DELETE FROM journal WHERE id = ?'),
    },
  }
}
