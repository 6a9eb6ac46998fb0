import type { Reason } from '../../words/reasons.ts'
import type { Db } from '../database.ts'
import type { FileKey } from './files.ts'

/**
 * changed: the look found another version, or the picture there again. uploaded, unchanged, adopted, linked: what it
 * took to have an image for it. failed, uncertain: what went wrong. arrived, never_arrived: what became of an upload in
 * doubt. gone, left_out, kept: what the look found of its place. held, approved: its image and a person. deleted:
 * its image went. postponed: the host would not delete it. needed: it was to go, and something stands on it. lost: it is
 * on the host no more, or was never ours.
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
  /** When the picture was found that this became of; milliseconds since 1970. */
  since?: number | null
}

/** Where something happened: the mirror's row, and the path below its folder. */
export interface Location {
  mirror: number
  path: string
}

export type HistoryRow = Location & Required<HistoryNote>

/** How many rows one path has at most. */
const MOST_OF_A_PATH = 20
/** How many rows there are beside one for each image. */
const MOST_BESIDE_IMAGES = 100_000

/**
 * What became of each path, for people who ask; nothing else reads it. A note belongs into the commit of what it
 * tells. A picture that is found and uploaded has one row, so that a first sync costs no more than that.
 */
export function openHistory(db: Db) {
  const add = db.prepare<HistoryRow>(
    `INSERT INTO history (mirror, path, at, event, detail, since)
     SELECT @mirror, @path, @at, @event, @detail, @since WHERE NOT EXISTS (
       SELECT 1 FROM (SELECT event, detail FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1)
       WHERE event = @event AND detail IS @detail)`,
  )
  const trim = db.prepare<Location>(
    `DELETE FROM history WHERE mirror = +@mirror AND path = +@path AND id <= (
       SELECT id FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1 OFFSET ${MOST_OF_A_PATH})`,
  )
  const placeOf = db.prepare<[string, number], Location>(
    `SELECT mirror, CASE path WHEN '' THEN '' ELSE path || '/' END || ? AS path FROM folders WHERE id = ?`,
  )
  const placeOfImage = db.prepare<[number], Location>('SELECT mirror, path FROM escrow WHERE image = ?')
  const last = db.prepare<Location, { event: HistoryEvent }>(
    'SELECT event FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1',
  )
  const of = db.prepare<[number, string], HistoryRow>(
    'SELECT mirror, path, at, event, detail, since FROM history WHERE mirror = +? AND path = +? ORDER BY id',
  )
  const excess = db.prepare<[], { n: number }>(
    `SELECT (SELECT count(*) FROM history) - (SELECT count(*) FROM images) - ${MOST_BESIDE_IMAGES} AS n`,
  )
  const first = db.prepare<[], { at: number }>('SELECT at FROM history ORDER BY id LIMIT 1')
  const dropBefore = db.prepare<[number, number]>(
    'DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT +?) AND at < +?',
  )
  const dropOldest = db.prepare<[number]>(
    'DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT +?)',
  )
  const addTo = (place: Location | undefined, { at, event, detail = null, since = null }: HistoryNote) => {
    if (!place) return
    const { changes } = add.run({ ...place, at: Math.round(at), event, detail, since })
    // The first of a path can't be too many.
    if (changes > 0 && event !== 'uploaded') trim.run(place)
  }

  return {
    reads: {
      /** The path's last event; null where nothing is known. */
      last: ({ mirror, path }: Location): HistoryEvent | null => last.get({ mirror, path })?.event ?? null,
      /** Oldest first. */
      of: ({ mirror, path }: Location): HistoryRow[] => of.all(mirror, path),
      /** How many rows there are too many. Counts them all. */
      excess: (): number => Math.max(0, excess.get()!.n),
      /** Whether the oldest row is from before this moment. */
      isFrom: (moment: number): boolean => (first.get()?.at ?? moment) < moment,
    },
    writes: {
      /** The same as the path's last note is not noted again. */
      add: ({ mirror, path }: Location, note: HistoryNote): void => addTo({ mirror, path }, note),
      ofFile: ({ folder, name }: FileKey, note: HistoryNote): void => addTo(placeOf.get(name, folder), note),
      /** Of an image that is to be given up. */
      ofImage: (image: number, note: HistoryNote): void => addTo(placeOfImage.get(image), note),
      /** Forgets those of the oldest `most` that are from before this moment. Answers how many these were. */
      dropBefore: (moment: number, most: number): number => dropBefore.run(most, moment).changes,
      /** Forgets the oldest. */
      dropOldest: (most: number): void => void dropOldest.run(most),
    },
  }
}
