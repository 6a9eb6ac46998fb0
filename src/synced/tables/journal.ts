import type { Statements } from '../database.ts'
import type { FileKey } from './files.ts'
import type { ImageRow } from './images.ts'

/** A request that changes the host and whose outcome is not known yet. */
interface Intent {
  id: number
  since: number
  /** When the request was sent, in milliseconds since the machine started. */
  sent_at: number
  /** For an upload, the row of its album. For the creation of an album, the row of its parent. Null is the root. */
  album: number | null
}

/** An upload whose outcome is not known yet, and what recovery needs to find out whether the upload arrived. */
export interface OpenUpload extends Intent, Pick<ImageRow, 'hash' | 'size' | 'how'> {
  folder: number
  name: string
  mtime: number
  /** The bytes of the file, of which the sent ones were made. */
  file_hash: Buffer
  file_size: number
  mime: string
  width: number | null
  height: number | null
  /** The delivery address. Null in the presign form, whose step 1 does not tell it. */
  cdn_url: string | null
  /** The image's id. Null in the credential form, whose step 1 does not tell it. */
  remote_id: string | null
}

/** Intents of requests that change the host. Each write `open…` returns the id of the new intent. */
export function openJournal({ all, get, insert, run, value }: Statements) {
  return {
    reads: {
      openUploads: all<[], OpenUpload>(`SELECT * FROM journal WHERE kind = 'upload' ORDER BY id`),
      /** The open intent to create an album of this name in `parent`, if there is one. */
      openCreation: get<[parent: number | null, name: string], Intent>(
        `SELECT * FROM journal WHERE kind = 'create_album' AND coalesce(album, 0) = ifnull(?, 0) AND album_name = ?`,
      ),
      /** When the latest request to create an album was sent whose intent is still open. Null: no such intent is open. */
      newestCreation: value<[], number | null>(
        `SELECT max(sent_at) FROM journal WHERE kind = 'create_album'`,
      ),
      /** When the earliest upload or creation was sent whose intent is still open. Null: no such intent is open. */
      oldestInDoubt: value<[], number | null>(
        `SELECT min(sent_at) FROM journal WHERE kind <> 'delete_image'`,
      ),
      /** When the first upload or creation after this time was sent whose intent is still open. Null: no such intent is open. */
      nextInDoubt: value<[after: number], number | null>(
        `SELECT min(sent_at) FROM journal WHERE kind <> 'delete_image' AND sent_at > ?`,
      ),
      deletionOf: get<[image: number], Intent>(
        `SELECT * FROM journal WHERE image = ? AND kind = 'delete_image'`,
      ),
      open: all<[], Intent>('SELECT * FROM journal ORDER BY id'),
      openOnFile: all<[FileKey], OpenUpload>(
        `SELECT * FROM journal WHERE kind = 'upload' AND folder = +@folder AND name = +@name`,
      ),
    },
    writes: {
      openUpload: insert<[Omit<OpenUpload, 'id'>]>(
        `INSERT INTO journal (kind, since, sent_at, folder, name, size, mtime, hash, how, file_hash, file_size, mime, width, height,
           cdn_url, remote_id, album)
         VALUES ('upload', @since, @sent_at, @folder, @name, @size, @mtime, @hash, @how, @file_hash, @file_size, @mime, @width,
           @height, @cdn_url, @remote_id, @album)`,
      ),
      openAlbumCreation: insert<[{ since: number; sent_at: number; parent: number | null; name: string }]>(
        `INSERT INTO journal (kind, since, sent_at, album, album_name)
         VALUES ('create_album', @since, @sent_at, @parent, @name)`,
      ),
      /** Makes all recorded monotonic times the present time, after a boot (sync/clock.ts). */
      restartClocks: run<[monotonic: number]>('UPDATE journal SET sent_at = ?'),
      openImageDeletion: insert<[image: number, since: number]>(
        `INSERT INTO journal (kind, image, since) VALUES ('delete_image', ?, ?)`,
      ),
      forgetImage: run<[image: number]>('DELETE FROM journal WHERE image = ?'),
      close: run<[id: number]>('DELETE FROM journal WHERE id = ?'),
    },
  }
}
