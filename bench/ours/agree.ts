import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { stateFiles } from '../../src/daemon/state/claim.ts'
import { type Db, openDatabase } from '../../src/synced/database.ts'
import { lastingMarkOf, readWitness, writeWitness } from '../../src/synced/witness.ts'
import { bmp, tinyPictureHash } from '../trees/picture.ts'
import { CHANGING, numberIn } from '../trees/shape.ts'

/** A state and a host's data that nobody works with at the moment. */
export interface BothSides {
  state: string
  hostData: string
  /** Where the host delivers: its origin. */
  origin: string
}

/** As if each scanned picture had been uploaded, without the half hour a million take. The changing file is left out. */
export function agree({ state, hostData, origin }: BothSides): void {
  const files = stateFiles(state)
  const db = openDatabase(files.database)
  db.function('number_in', { deterministic: true }, name => numberIn(String(name)))
  db.function('hash_of', { deterministic: true }, name => tinyPictureHash(numberIn(String(name))))
  db.prepare('ATTACH ? AS host').run(join(hostData, 'host.db'))
  db.transaction(() => {
    // The host has refused a wrong key.
    db.exec('DELETE FROM blocks')
    makeAlbums(db)
    makeImages(db, origin)
  }).immediate()
  db.exec('DETACH host')
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  // It is still the state that albumd closed.
  const { mark: _, ...witness } = readWitness(files.witness)!
  writeWitness(files.witness, { ...witness, closed: lastingMarkOf(files.database) })
}

/** One album a folder, in the same place on both sides. `places` keeps which is which. */
function makeAlbums(db: Db): void {
  db.exec('CREATE TEMP TABLE places (folder INTEGER PRIMARY KEY, album INTEGER, host_album INTEGER)')
  const host = db
    .prepare<[], { account: number; root: number; created: number }>(
      'SELECT account, seq AS root, created_at AS created FROM host.albums WHERE depth = 0',
    )
    .get()!
  const insert = db
    .prepare('INSERT INTO albums (parent, name, remote_id, ours) VALUES (?, ?, ?, 1) RETURNING id')
    .pluck()
  const insertAtHost = db
    .prepare(
      'INSERT INTO host.albums (id, account, parent, name, depth, created_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq',
    )
    .pluck()
  const place = db.prepare('INSERT INTO places VALUES (?, ?, ?)')
  const made = new Map<string, { album: number; atHost: number }>()
  const folders = db
    .prepare<[], { id: number; path: string; top: string }>(
      'SELECT folders.id, path, album AS top FROM folders JOIN mirrors ON mirrors.id = mirror ORDER BY path',
    )
    .all()
  for (const { id, path, top } of folders) {
    const names = path === '' ? [] : path.split('/')
    const above = path === '' ? null : made.get(names.slice(0, -1).join('/'))!
    const name = names.at(-1) ?? top
    const remoteId = randomBytes(16).toString('hex')
    const album = insert.get(above?.album ?? null, name, remoteId) as number
    const parent = above?.atHost ?? host.root
    const depth = names.length + 1
    const atHost = insertAtHost.get(remoteId, host.account, parent, name, depth, host.created) as number
    made.set(path, { album, atHost })
    place.run(id, album, atHost)
  }
  // albumd has made them and knows what they hold.
  db.exec('INSERT INTO contents (album, unrecorded) SELECT album, 0 FROM places')
}

/** One image a file, with the file's number for its id. */
function makeImages(db: Db, origin: string): void {
  const size = bmp(1, 1).length
  const now = Date.now()
  db.prepare(
    `INSERT INTO images (id, remote_id, cdn_url, album, name, hash, size, mime, width, height, recorded_at, proof)
     SELECT number_in(name) + 1, printf('%032x', number_in(name) + 1), printf('%s/i/%032x', @origin, number_in(name) + 1),
       album, name, hash_of(name), size, 'image/bmp', 1, 1, @now, 'uploaded'
     FROM files JOIN places ON places.folder = files.folder WHERE name <> @changing AND size = @size`,
  ).run({ origin, now, size, changing: CHANGING })
  db.prepare(
    `INSERT INTO host.images (id, account, album, name, size, mime, width, height, sha256, file, created_at)
     SELECT printf('%032x', number_in(name) + 1), (SELECT id FROM host.accounts), host_album, name, size, 'image/bmp', 1, 1,
       lower(hex(hash_of(name))), printf('%032x', number_in(name) + 1), @now
     FROM files JOIN places ON places.folder = files.folder WHERE name <> @changing ORDER BY files.folder, name`,
  ).run({ now, changing: CHANGING })
  db.exec(
    'UPDATE host.accounts SET stored_bytes = (SELECT total(size) FROM host.images WHERE account = accounts.id)',
  )
  db.prepare(
    `UPDATE files SET state = 'synced', since = NULL, image = number_in(name) + 1, hash = hash_of(name)
     WHERE name <> ?`,
  ).run(CHANGING)
}
