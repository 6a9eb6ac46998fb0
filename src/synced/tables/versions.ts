import type { Millis } from '../../protocol/clock.ts'
import type { Statements } from '../database.ts'
import { boundsBelow, pages } from '../queries.ts'
import type { Location } from './history.ts'
import { excessOf } from './images.ts'

/** What was at a path before: a version of a picture, or nothing. What is at the path now is in the file's record. */
export interface VersionRow extends Location {
  /** When the version's image was recorded, and until when the path's picture used it, in ledger time (records/ledger-time.ts).
   * When the picture began to use it at another time, a row before this one tells that time. */
  since: Millis
  until: Millis
  /** SHA-256 of the version's bytes, and how many bytes these are. Null: no picture was at the path. */
  hash: Buffer | null
  size: number | null
  /** The file's modification time, in microseconds since 1970. Null: not known. */
  mtime: number | null
  /** 1: the host holds no image of these bytes any more. */
  given_up: 0 | 1
}

/** The past versions of pictures, by which a folder can be restored as it was. */
export function openVersions({ column, get, one, run, value }: Statements) {
  const oldest = value<[], number | undefined>('SELECT since FROM versions ORDER BY id LIMIT 1')
  const givenUp = value<[mirrors: string], number | null>(
    `SELECT max((SELECT max(until) FROM versions WHERE mirror = value AND given_up = 1)) FROM json_each(?)`,
  )
  const drop = one<[most: number], { until: number | null }>(
    'SELECT max(until) AS until FROM (SELECT until FROM versions ORDER BY id LIMIT ?)',
  )
  const dropOldest = run<[most: number]>(
    'DELETE FROM versions WHERE id IN (SELECT id FROM versions ORDER BY id LIMIT +?)',
  )
  const pathsAfter = column<
    [{ mirror: number; after: string; end: string | Buffer; moment: number }],
    string
  >(
    `SELECT DISTINCT path FROM versions WHERE mirror = +@mirror AND path > +@after AND path < +@end
       AND until > +@moment ORDER BY path LIMIT 512`,
  )
  return {
    reads: {
      /** What was at a path at a time, if this is recorded here. Otherwise the record of the file tells. */
      at: get<[Location & { moment: number }], VersionRow>(
        `SELECT * FROM versions WHERE mirror = +@mirror AND path = +@path AND until > +@moment
         ORDER BY until, id LIMIT 1`,
      ),
      /** The version of these bytes that was at a path last. */
      latestOf: get<[hash: Buffer], VersionRow>(
        'SELECT * FROM versions WHERE hash = +? ORDER BY until DESC, id DESC LIMIT 1',
      ),
      /** The SHA-256s of the versions at a path, the oldest first. */
      hashesAt: column<[Location], Buffer>(
        `SELECT hash FROM versions WHERE mirror = +@mirror AND path = +@path AND hash IS NOT NULL
         GROUP BY hash ORDER BY min(id)`,
      ),
      /** The paths at and below a folder of which something is recorded that ended after this time, in order. */
      paths(mirror: number, folder: string, moment: number): Generator<string> {
        const { after: first, end } = boundsBelow(folder)
        return pages(after => pathsAfter({ mirror, after: after ?? first, end, moment }))
      },
      /** The latest time at which a path held a version that the host does not hold any more. */
      givenUp: (mirrors: readonly number[]) => givenUp(JSON.stringify(mirrors)),
      /** When the image of the oldest recorded version was recorded. */
      oldest,
      excess: value<[], number>(excessOf('versions')),
    },
    writes: {
      add: run<[Omit<VersionRow, 'given_up'>]>(
        `INSERT INTO versions (mirror, path, since, until, hash, size, mtime)
         VALUES (@mirror, @path, @since, @until, @hash, @size, @mtime)`,
      ),
      /** Notes whether the host holds an image of these bytes. */
      hold: run<[{ hash: Buffer; given_up: 0 | 1 }]>(
        'UPDATE versions SET given_up = @given_up WHERE hash = +@hash AND given_up <> @given_up',
      ),
      /** Forgets the `most` oldest rows. Returns the latest time of which these told. */
      dropOldest(most: number): number | null {
        const { until } = drop(most)
        dropOldest(most)
        return until
      },
    },
  }
}
