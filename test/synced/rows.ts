/** The record of a picture of one pixel. */
export const IMAGE = {
  remote_id: 'im1',
  cdn_url: null,
  album: null,
  name: 'a.png',
  hash: Buffer.alloc(32),
  size: 1,
  mime: 'image/png',
  width: 1,
  height: 1,
  recorded_at: 1,
  proof: 'uploaded',
} as const

/** The record of a file that waits for its upload. */
export const FILE = {
  ...{ name: 'a.png', size: 1, mtime: 1, ctime: 1, ino: 1 },
  ...({ state: 'pending', since: 1, image: null, hash: null, flat: 0 } as const),
}
