import type { Db } from './database.ts'

export interface ImageRow {
  id: number
  remote_id: string
  cdn_url: string
  album: number | null
  name: string
  hash: Buffer
  size: number
  mime: string
  width: number | null
  height: number | null
  recorded_at: number
}

/** The images on the host that are ours. */
export function openImages(db: Db) {
  const byId = db.prepare<[number], ImageRow>('SELECT * FROM images WHERE id = ?')
  const byRemoteId = db.prepare<[string], ImageRow>('SELECT * FROM images WHERE remote_id = ?')
  const latest = db.prepare<[], ImageRow>('SELECT * FROM images ORDER BY id DESC LIMIT 1')
  const insert = db.prepare<Omit<ImageRow, 'id'>>(
    `INSERT INTO images (remote_id, cdn_url, album, name, hash, size, mime, width, height, recorded_at)
     VALUES (@remote_id, @cdn_url, @album, @name, @hash, @size, @mime, @width, @height, @recorded_at)
     ON CONFLICT (remote_id) DO NOTHING`,
  )
  const remove = db.prepare<[number]>('DELETE FROM images WHERE id = ?')

  return {
    byId: (id: number) => byId.get(id),
    byRemoteId: (remoteId: string) => byRemoteId.get(remoteId),
    latest: () => latest.get(),
    /** Records an image. A host may answer equal bytes with one id: then the row that stands is given. */
    put(image: Omit<ImageRow, 'id'>): ImageRow {
      insert.run(image)
      return byRemoteId.get(image.remote_id)!
    },
    remove: (id: number) => void remove.run(id),
  }
}
