import { isConverted, type madeLessThan } from '../../local/sent-picture.ts'
import type { Millis } from '../../protocol/clock.ts'
import type { Statements } from '../database.ts'

/** What identifies a picture by its bytes: its SHA-256 and its size in bytes. */
export interface Bytes {
  hash: Buffer
  size: number
}

export interface ImageRow extends Bytes {
  id: number
  remote_id: string
  /** The delivery address. Null: not known yet. */
  cdn_url: string | null
  album: number | null
  name: string
  mime: string
  width: number | null
  height: number | null
  recorded_at: number
  /** uploaded: the host acknowledged the upload. compared: the image was fetched and has these bytes. none: it is linked. */
  proof: 'uploaded' | 'compared' | 'none'
  /** 1: the image stays on the host for good. */
  kept: 0 | 1
  /** The modification time of the file that was sent, in microseconds since 1970. Null: not known. */
  mtime: number | null
  /** Its image data (`ImageData`). Null: they were not read, so only all bytes tell which picture this is. */
  data: string | null
  /** How a listing first showed an altered image: `size width height`. Null: it shows the image as it was sent. */
  listed: string | null
  /** How what was sent was made from the file (`SentPicture`). Null: it was sent as it lay there. */
  how: string | null
}

/** How the host had altered a picture that a restore got from it. */
export interface Alteration {
  /** stripped: its metadata are lost. packed: its image data are packed anew. encoded: it is not the original. */
  how: 'stripped' | 'packed' | 'encoded'
  /** 1: the lost metadata said how the picture is to be turned. */
  turned: 0 | 1
}

/** Bytes that a restore got of an image, and that differ from what the host was sent. */
export type Altered = Bytes & Alteration
/** Bytes that are known to be an image's picture. `how`: null for the original's: those of a file from which the sent ones were
 * made, or else those that the host was sent. */
export type Given = Bytes & (Alteration | { how: null; turned: 0 })

/** What a picture lacks that was made in this way (`SentPicture.how`). */
function alterationBy(how: string | null): Alteration['how'] {
  return isConverted({ how }) ? 'encoded' : 'stripped'
}

/** In `delivered.how`: these are the bytes of a file from which the image was made. */
const OF_FILE = 'file'

/** In `ImageRow.how`: the image has metadata, and a person asked to send its file anew without them. */
export const TO_SEND_ANEW = 'anew'

export type MadeLess = ReturnType<typeof madeLessThan>

/** The images that may have what is taken out now (`MadeLess`). SQL text. */
export const MADE_LESS = `mime IN (SELECT value FROM json_each(+@types))
  AND (how IS NULL OR how = '${TO_SEND_ANEW}' OR how LIKE +@like)`

/** The ids of the images that have these bytes, or of which a restore got these bytes, or a file has them. SQL text. */
export const idsWith = (hash: string) =>
  `(SELECT id FROM images WHERE hash = ${hash} UNION SELECT image FROM delivered WHERE hash = ${hash})`

/** All bytes that are known to be an image's picture (`Given`). SQL text for FROM. */
const OWN_BYTES = `(SELECT id AS image, hash, size FROM images UNION ALL SELECT image, hash, size FROM delivered)`

/** The bytes that the disk loses with an image: those of its file that is gone, or else all that are its picture's. SQL text. */
export const lostBytes = (image: string) => `(SELECT own.hash, own.size FROM ${OWN_BYTES} AS own
  WHERE own.image = ${image} AND own.hash = ifnull((SELECT files.hash FROM files WHERE files.image = ${image}
      AND state = 'gone' AND files.hash IN (SELECT hash FROM ${OWN_BYTES} WHERE image = ${image})), own.hash))`

/** Every transition of an image's record, by its proof; 'none': no record. ARCHITECTURE.md draws the table. */
export const IMAGE_TRANSITIONS = {
  recorded: { uploaded: ['none'], compared: ['none'], linked: ['none'] },
  proved: { compared: ['linked'] },
  gone: { none: ['uploaded', 'compared', 'linked'] },
} as const

type NewImage = Omit<ImageRow, 'id' | 'kept' | 'mtime' | 'data' | 'listed' | 'how'> &
  Partial<Pick<ImageRow, 'mtime' | 'data' | 'how'>>

/** By how many rows a table is too long. It may have a row for each image, and 100,000 more. Counting reads all rows. */
export const excessOf = (table: 'history' | 'versions') =>
  `SELECT max(0, (SELECT count(*) FROM ${table}) - (SELECT count(*) FROM images) - 100000)`

/** The images on the host that albumd has recorded. */
export function openImages({ all, column, get, has, insert, isEmpty, run, value }: Statements) {
  const byRemoteId = get<[remoteId: string], ImageRow>('SELECT * FROM images WHERE remote_id = ?')
  const add = insert<[image: Omit<ImageRow, 'id' | 'kept' | 'listed'>]>(
    `INSERT INTO images (remote_id, cdn_url, album, name, hash, size, mime, width, height, recorded_at, proof, mtime, data, how)
     VALUES (@remote_id, @cdn_url, @album, @name, @hash, @size, @mime, @width, @height, @recorded_at, @proof, @mtime, @data, @how)
     ON CONFLICT (remote_id) DO NOTHING`,
  )
  const ofHash = all<[hash: Buffer], ImageRow>('SELECT * FROM images WHERE hash = +? ORDER BY id')
  const ofBytes = all<[{ hash: Buffer }], ImageRow>(
    `SELECT * FROM images WHERE id IN ${idsWith('+@hash')} ORDER BY id`,
  )
  const given = all<[id: number], Given>(
    `SELECT hash, size, nullif(how, '${OF_FILE}') AS how, turned FROM delivered WHERE image = ?`,
  )
  const ofFile = has<[id: number]>(`SELECT 1 FROM delivered WHERE image = +? AND how = '${OF_FILE}'`)
  const give = run<[Bytes & { id: number; how: string; turned: 0 | 1 }]>(
    'INSERT OR IGNORE INTO delivered (image, hash, size, how, turned) VALUES (@id, @hash, @size, @how, @turned)',
  )
  /** The images of these bytes. The bytes that a restore has written of an image count as the image's too, and those of a file
   * from which it was made. */
  const byHash = (hash: Buffer) => (isEmpty('delivered') ? ofHash(hash) : ofBytes({ hash }))
  const isGiven = has<[id: number, hash: Buffer]>('SELECT 1 FROM delivered WHERE image = ? AND hash = ?')

  return {
    reads: {
      byId: get<[id: number], ImageRow>('SELECT * FROM images WHERE id = ?'),
      byRemoteId,
      byAddress: get<[cdnUrl: string], ImageRow>('SELECT * FROM images WHERE cdn_url = ?'),
      /** When the oldest recorded image was recorded. */
      oldest: value<[], number | undefined>('SELECT recorded_at FROM images ORDER BY id LIMIT 1'),
      latest: get<[], ImageRow>('SELECT * FROM images ORDER BY id DESC LIMIT 1'),
      /** The images that are recorded in an album; null is the root. */
      inAlbum: all<[album: number | null], ImageRow>('SELECT * FROM images WHERE album IS +?'),
      /** The images of an album whose rows follow `after`, at most `most`. */
      inAlbumAfter: all<[{ album: number | null; after: number; most: number }], ImageRow>(
        'SELECT * FROM images WHERE album IS +@album AND id > +@after ORDER BY id LIMIT +@most',
      ),
      countInAlbum: value<[album: number | null], number>('SELECT count(*) FROM images WHERE album IS +?'),
      /** The albums with the most recorded images, at most `most`; null is the root. */
      fullestAlbums: column<[most: number], number | null>(
        'SELECT album FROM images GROUP BY album ORDER BY count(*) DESC LIMIT +?',
      ),
      /** The images that were uploaded last and whose delivery address is known, at most `most`. */
      acknowledged: all<
        [most: number],
        { remote_id: string; cdn_url: string; name: string }
      >(`SELECT remote_id, cdn_url, name FROM images WHERE proof = 'uploaded' AND cdn_url IS NOT NULL
     ORDER BY id DESC LIMIT +?`),
      /** When the first image of these bytes was recorded. Null: none was. */
      heldSince: value<[{ hash: Buffer }], number | null>(
        `SELECT min(recorded_at) FROM images WHERE id IN ${idsWith('+@hash')}`,
      ),
      byHash,
      /** Whether these bytes are known to be the image's picture, as those of `given`. */
      isOf: ({ id, hash }: ImageRow, bytes: Buffer | null | undefined) =>
        bytes != null && (hash.equals(bytes) || isGiven(id, bytes)),
      /** Whether the image was made from a file with other bytes. */
      isMade: ({ id }: ImageRow) => !isEmpty('delivered') && ofFile(id),
      /** All bytes that are known to be the image's picture. Those that were sent come first. */
      given({ id, hash, size, how }: ImageRow): Given[] {
        const others = given(id).filter(bytes => !bytes.hash.equals(hash))
        const isMade = others.some(({ how }) => how === null)
        return [{ hash, size, how: isMade ? alterationBy(how) : null, turned: 0 } as Given, ...others]
      },
      /** Images of this type that are proved to have a picture's bytes, but not `besides`. Large ones come first, then the
       * latest. */
      samples: all<[{ mime: string; size: number; besides: string; most: number }], ImageRow>(
        `SELECT * FROM images WHERE proof <> 'none' AND mime = @mime AND remote_id <> @besides
         ORDER BY size >= +@size DESC, id DESC LIMIT +@most`,
      ),
      /** The sizes at which a picture on the disk may turn out to have the bytes of an image or of an upload in doubt. Images of
       * synced files do not count, because their files have these bytes. Images that no file uses count. */
      sizesToCompare: column<[], number>(
        `SELECT size FROM images WHERE kept = 1 OR NOT EXISTS (SELECT 1 FROM files WHERE image = images.id)
         UNION SELECT images.size FROM escrow JOIN images ON images.id = escrow.image
         UNION SELECT images.size FROM files JOIN images ON images.id = files.image WHERE files.state <> 'synced'
         UNION SELECT size FROM delivered
         UNION SELECT size FROM journal WHERE kind = 'upload'`,
      ),
      /** How many such images are recorded, whether a file uses them or not. */
      countMadeLess: value<[MadeLess], number>(`SELECT count(*) FROM images WHERE ${MADE_LESS}`),
      linked: all<[], ImageRow>(`SELECT * FROM images WHERE proof = 'none'`),
    },
    writes: {
      /** Records an image. Returns the record that has its id already, because a host may give equal bytes the same id. */
      put(image: NewImage): ImageRow {
        const row = { mtime: null, data: null, how: null, ...image }
        const id = add(row)
        return id === 0 ? byRemoteId(image.remote_id)! : { ...row, id, kept: 0, listed: null }
      },
      /** Records hash and size of the image's bytes, which were fetched from `cdn_url`. */
      prove: run<[Bytes & { id: number; cdn_url: string | null }]>(
        `UPDATE images SET proof = iif(proof = 'none', 'compared', proof), hash = @hash, size = @size, cdn_url = @cdn_url,
           data = iif(hash = @hash, data, NULL), how = iif(hash = @hash, how, NULL) WHERE id = @id`,
      ),
      /** Records what is known of what was sent. Null: nothing more than before. */
      describe: run<[{ id: number } & Pick<ImageRow, 'data' | 'how'>]>(
        'UPDATE images SET data = ifnull(@data, data), how = ifnull(@how, how) WHERE id = @id',
      ),
      /** Records the bytes in which a restore gets the image. */
      give: (bytes: Altered & { id: number }) => give(bytes),
      /** Records the bytes of a file from which the image was made. */
      madeOf: ({ id, hash, size }: Bytes & { id: number }) =>
        give({ id, hash, size, how: OF_FILE, turned: 0 }),
      forgetGiven: run<[id: number]>('DELETE FROM delivered WHERE image = ?'),
      /** Records how a listing shows an image that the host has altered. */
      listed: run<[{ id: number; listed: string }]>('UPDATE images SET listed = @listed WHERE id = @id'),
      moved: run<[{ id: number; album: number | null }]>('UPDATE images SET album = @album WHERE id = @id'),
      keep: run<[id: number]>('UPDATE images SET kept = 1 WHERE id = ?'),
      remove: run<[id: number]>('DELETE FROM images WHERE id = ?'),
    },
  }
}

/** Ids of images that albumd deleted. A host may still list such an image for a while. */
export function openDeleted({ changes, has, run, value }: Statements) {
  return {
    reads: {
      /** When albumd deleted the image with this id. */
      at: value<[remoteId: string], number | undefined>('SELECT at FROM deleted WHERE remote_id = ?'),
      /** Whether any of these images was deleted before this time, so that its id can be forgotten. Reads all rows. */
      isFrom: has<[moment: number]>('SELECT remote_id FROM deleted WHERE at < +? LIMIT 1'),
    },
    writes: {
      put: run<[remoteId: string, at: Millis]>(
        'INSERT INTO deleted (remote_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
      ),
      /** Forgets at most `most` ids of images that were deleted before this time. Returns how many it forgot. */
      dropBefore: changes<[moment: number, most: number]>(
        'DELETE FROM deleted WHERE remote_id IN (SELECT remote_id FROM deleted WHERE at < +? LIMIT +?)',
      ),
    },
  }
}

/** Images that look like a mirror's picture and proved to have other bytes, so that they are not linked again. And recorded
 * images that may have got other bytes since. */
export function openRefuted({ has, run }: Statements) {
  return {
    reads: {
      has: has<[remoteId: string, hash: Buffer]>('SELECT hash FROM refuted WHERE remote_id = ? AND hash = ?'),
    },
    writes: {
      /** Records that this image does not have the bytes with this hash. */
      put: run<[remoteId: string, hash: Buffer]>(
        'INSERT OR IGNORE INTO refuted (remote_id, hash) VALUES (?, ?)',
      ),
      remove: run<[remoteId: string, hash: Buffer]>('DELETE FROM refuted WHERE remote_id = ? AND hash = ?'),
    },
  }
}
