import { openDatabase } from '../../../src/host/data/database.ts'
import type { Readings } from '../../../src/host/decisions.ts'
import { type HostService, openHostService } from '../../../src/host/host-service.ts'
import { type Draft, type PictureStore, settle } from '../../../src/host/ports.ts'
import { CREDENTIAL_LIFETIME_MS } from '../../../src/protocol/limits.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { readTiny } from '../disk/tiny-picture.ts'
import { Random } from '../histories/random.ts'

export const KEY = 'key-of-the-simulation'

/** The real host's logic in memory. One serves many histories, one after the other. */
export interface HostKit {
  service: HostService
  /** An empty host again, with the clock, the randomness and the readings of another history. */
  /** A person gives an image another place: an album (null: the root) and a name. */
  place(image: string, album: string | null, name: string): void
  /** An image gets the id of one that is gone. */
  rename(image: string, id: string): void
  reset(now: () => number, random: Random, readings: Readings): void
}

export function openHostKit(): HostKit {
  const db = openDatabase(':memory:')
  const files = new Map<string, Buffer>()
  let now = () => 0
  let random = new Random(0)
  const settings = settle({
    plan: 'professional',
    dailyQuota: Number.POSITIVE_INFINITY,
    storageLimit: Number.POSITIVE_INFINITY,
    credentialTtlMs: CREDENTIAL_LIFETIME_MS,
    requestsPerSecond: UNLIMITED,
  })
  const service = openHostService(
    {
      db,
      pictures: storeIn(files, () => random),
      clock: { wall: () => now(), monotonic: () => now() },
      random: length => random.bytes(length),
      readPicture: async source => readTiny(await source.read(0, 12)),
    },
    [KEY],
    settings,
  )
  const tables = ['images', 'credentials', 'quota'].map(table => db.prepare(`DELETE FROM ${table}`))
  const placeIn = db.prepare(
    'UPDATE images SET name = @name, album = (SELECT seq FROM albums WHERE id = @album OR (@album IS NULL AND parent IS NULL)) WHERE id = @image',
  )
  const renameTo = db.prepare('UPDATE images SET id = @id WHERE id = @image')
  const clearAlbums = db.prepare('DELETE FROM albums WHERE depth = ?')
  const forgetBytes = db.prepare('UPDATE accounts SET stored_bytes = 0')
  const depths = db.prepare<[], number>('SELECT DISTINCT depth FROM albums WHERE depth > 0').pluck()
  return {
    service,
    place: (image, album, name) => void placeIn.run({ image, album, name }),
    rename: (image, id) => void renameTo.run({ image, id }),
    reset(newNow, newRandom, readings) {
      settings.readings = readings
      db.transaction(() => {
        for (const table of tables) table.run()
        for (const depth of depths.all().sort((a, b) => b - a)) clearAlbums.run(depth)
        forgetBytes.run()
      })()
      files.clear()
      now = newNow
      random = newRandom
    },
  }
}

function storeIn(files: Map<string, Buffer>, random: () => Random): PictureStore {
  return {
    async begin() {
      const file = random().bytes(8).toString('hex')
      let bytes: Buffer = Buffer.alloc(0)
      return {
        get size() {
          return bytes.length
        },
        append: async chunk => {
          bytes = bytes.length === 0 ? Buffer.from(chunk) : Buffer.concat([bytes, chunk])
        },
        read: async (offset, length) => bytes.subarray(offset, offset + length),
        keep: async () => {
          files.set(file, bytes)
          return file
        },
        discard: async () => void files.delete(file),
      } satisfies Draft
    },
    async read(file) {
      const bytes = files.get(file)!
      return new ReadableStream({
        start(controller) {
          controller.enqueue(bytes)
          controller.close()
        },
      })
    },
    remove: file => void files.delete(file),
    files: () => files.keys(),
    freeBytes: () => Number.POSITIVE_INFINITY,
  }
}
