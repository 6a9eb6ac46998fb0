import type { Db } from '../database.ts'
import { statements } from '../statements.ts'

export interface ImageRow {
  id: number
  remote_id: string
  /** Null: not known yet. */
  cdn_url: string | null
  album: number | null
  name: string
  hash: Buffer
  size: number
  mime: string
  width: number | null
  height: number | null
  recorded_at: number
  /** uploaded: the host acknowledged the upload. compared: the bytes were fetched and are equal. none: the image is linked. */
  proof: 'uploaded' | 'compared' | 'none'
  /** 1: the image is kept for good. */
  kept: 0 | 1
}

/**
 * Every transition of an image's record: the proof that it leads to, and what it comes from. 'none': no record names the
 * image. That an image is kept for good is a mark beside its proof. ARCHITECTURE.md draws the table.
 */
export const IMAGE_TRANSITIONS = {
  recorded: { uploaded: ['none'], compared: ['none'], linked: ['none'] },
  proved: { compared: ['linked'] },
  gone: { none: ['uploaded', 'compared', 'linked'] },
} as const

type NewImage = Omit<ImageRow, 'id' | 'kept'>

/** The images on the host that albumd has recorded. */
export function openImages(db: Db) {
  const { all, get, run } = statements(db)
  const byRemoteId = db.prepare<[string], ImageRow>('SELECT * FROM images WHERE remote_id = ?')
  const insert = db.prepare<NewImage>(
    `INSERT INTO images (remote_id, cdn_url, album, name, hash, size, mime, width, height, recorded_at, proof)
     VALUES (@remote_id, @cdn_url, @album, @name, @hash, @size, @mime, @width, @height, @recorded_at, @proof)
     ON CONFLICT (remote_id) DO NOTHING`,
  )
  const ofAlbum = db.prepare<[number], ImageRow>('SELECT * FROM images WHERE album = +?')
  const ofRoot = db.prepare<[], ImageRow>('SELECT * FROM images WHERE album IS NULL')
  const countOfAlbum = db.prepare<[number], { n: number }>(
    'SELECT count(*) AS n FROM images WHERE album = +?',
  )
  const countOfRoot = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM images WHERE album IS NULL')
  const fullestAlbums = db
    .prepare<[number], number | null>(
      'SELECT album FROM images GROUP BY album ORDER BY count(*) DESC LIMIT +?',
    )
    .pluck()
  const prove = db.prepare<[Buffer, number, string, number]>(
    `UPDATE images SET proof = 'compared', hash = ?, size = ?, cdn_url = ? WHERE id = ?`,
  )
  const setAlbum = db.prepare<[number | null, number]>('UPDATE images SET album = ? WHERE id = ?')

  return {
    reads: {
      byId: get<[id: number], ImageRow>('SELECT * FROM images WHERE id = ?'),
      byRemoteId: (remoteId: string) => byRemoteId.get(remoteId),
      latest: get<[], ImageRow>('SELECT * FROM images ORDER BY id DESC LIMIT 1'),
      /** The images that are recorded in an album; null is the root. */
      inAlbum: (album: number | null) => (album === null ? ofRoot.all() : ofAlbum.all(album)),
      countInAlbum: (album: number | null) =>
        (album === null ? countOfRoot.get() : countOfAlbum.get(album))!.n,
      /** The albums with most recorded images; null is the root. */
      fullestAlbums: (most: number) => fullestAlbums.all(most),
      /** The latest image whose upload the host acknowledged. */
      acknowledged: all<
        [most: number],
        { remote_id: string; cdn_url: string; name: string }
      >(`SELECT remote_id, cdn_url, name FROM images WHERE proof = 'uploaded' AND cdn_url IS NOT NULL
     ORDER BY id DESC LIMIT +?`),
      byHash: all<[hash: Buffer], ImageRow>('SELECT * FROM images WHERE hash = +? ORDER BY id'),
      latestUploaded: get<[], ImageRow>(
        `SELECT * FROM images WHERE proof = 'uploaded' ORDER BY id DESC LIMIT 1`,
      ),
      /** The images that are only linked. */
      linked: all<[], ImageRow>(`SELECT * FROM images WHERE proof = 'none'`),
    },
    writes: {
      /** Records an image. When a record names the id already, because the host gives equal bytes one id, this record is answered. */
      put(image: NewImage): ImageRow {
        insert.run(image)
        return byRemoteId.get(image.remote_id)!
      },
      /** Records that the image's bytes were fetched from `cdnUrl` and are these. */
      prove(id: number, { hash, size }: Pick<ImageRow, 'hash' | 'size'>, cdnUrl: string): void {
        prove.run(hash, size, cdnUrl, id)
      },
      moved: (id: number, album: number | null) => void setAlbum.run(album, id),
      /** Marks an image as kept for good. */
      keep: run<[id: number]>('UPDATE images SET kept = 1 WHERE id = ?'),
      remove: run<[id: number]>('DELETE FROM images WHERE id = ?'),
    },
  }
}
