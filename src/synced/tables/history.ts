import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import type { FileKey } from './files.ts'

/**
 * changed: a scan found another version, or the picture is there again.
 * uploaded: its bytes were sent. unchanged: its image had its bytes already. adopted: an image on the host proved to have its
 *   bytes. linked: an image on the host has its name and dimensions, and the bytes are not compared yet.
 * failed: its upload failed. uncertain: its upload is in doubt. arrived, never_arrived: what became of an upload in doubt.
 * gone: a scan did not find it. left_out: it is on the disk, and not mirrored any more. kept: it is gone, and its image stays
 *   for good.
 * held, approved: its image waits for a person, or a person approved the deletion.
 * deleted: its image was deleted. postponed: the host refused the deletion.
 * needed: its image was taken out of escrow, because something needs it.
 * lost: the host does not hold its image any more, or the image belongs to somebody else.
 */
export type HistoryEvent =
  | 'changed'
  | 'uploaded'
  | 'unchanged'
  | 'adopted'
  | 'linked'
  | 'failed'
  | 'uncertain'
  | 'arrived'
  | 'never_arrived'
  | 'gone'
  | 'left_out'
  | 'kept'
  | 'held'
  | 'approved'
  | 'deleted'
  | 'postponed'
  | 'needed'
  | 'lost'

export interface HistoryNote {
  /** Milliseconds since 1970. */
  at: number
  event: HistoryEvent
  detail?: Reason | null
  /** When the scan found the picture: milliseconds since 1970. */
  since?: number | null
}

/** The mirror's row and the path below its folder. */
export interface Location {
  mirror: number
  path: string
}

export type HistoryRow = Location & Required<HistoryNote>

/** How many rows are kept for one path at most. */
const MOST_OF_A_PATH = 20
/** How many rows are kept in addition to one row for each image. */
const MOST_BESIDE_IMAGES = 100_000

/**
 * What happened to each path, for `why` and other answers to people. A picture that is found and uploaded gets only one row,
 * so that a first sync costs little.
 */
export function openHistory({ all, changes, get, run, value }: Statements) {
  const add = changes<[HistoryRow]>(
    `INSERT INTO history (mirror, path, at, event, detail, since)
     SELECT @mirror, @path, @at, @event, @detail, @since WHERE NOT EXISTS (
       SELECT 1 FROM (SELECT event, detail FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1)
       WHERE event = @event AND detail IS @detail)`,
  )
  const trim = run<[Location]>(
    `DELETE FROM history WHERE mirror = +@mirror AND path = +@path AND id <= (
       SELECT id FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1 OFFSET ${MOST_OF_A_PATH})`,
  )
  const placeOf = get<[name: string, folder: number], Location>(
    `SELECT mirror, CASE path WHEN '' THEN '' ELSE path || '/' END || ? AS path FROM folders WHERE id = ?`,
  )
  const placeOfImage = get<[image: number], Location>('SELECT mirror, path FROM escrow WHERE image = ?')
  const addTo = (place: Location | undefined, { at, event, detail = null, since = null }: HistoryNote) => {
    if (!place) return
    const added = add({ ...place, at: Math.round(at), event, detail, since })
    // Mostly this is the first row of its path, and then no old row needs to be removed.
    if (added > 0 && event !== 'uploaded') trim(place)
  }

  return {
    reads: {
      /** The path's last event, if any. */
      last: value<[Location], HistoryEvent | undefined>(
        'SELECT event FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1',
      ),
      /** Oldest first. */
      of: all<[Location], HistoryRow>(
        `SELECT mirror, path, at, event, detail, since FROM history
         WHERE mirror = +@mirror AND path = +@path ORDER BY id`,
      ),
      /** How many rows are above the limit. Counts all rows. */
      excess: value<[], number>(
        `SELECT max(0, (SELECT count(*) FROM history) - (SELECT count(*) FROM images) - ${MOST_BESIDE_IMAGES})`,
      ),
      /** When the oldest row was written: milliseconds since 1970. */
      oldest: value<[], number | undefined>('SELECT at FROM history ORDER BY id LIMIT 1'),
    },
    writes: {
      /** Adds an event, unless it equals the path's last event. */
      add: ({ mirror, path }: Location, note: HistoryNote) => addTo({ mirror, path }, note),
      ofFile: ({ folder, name }: FileKey, note: HistoryNote) => addTo(placeOf(name, folder), note),
      /** Adds an event of an image that waits for its deletion. */
      ofImage: (image: number, note: HistoryNote) => addTo(placeOfImage(image), note),
      /** Forgets at most `most` rows that are older than this time. Answers how many. */
      dropBefore: changes<[{ moment: number; most: number }]>(
        'DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT +@most) AND at < +@moment',
      ),
      /** Forgets the oldest rows. */
      dropOldest: run<[most: number]>(
        'DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT +?)',
      ),
    },
  }
}
