import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import type { FileKey } from './files.ts'
import { excessOf } from './images.ts'

/** changed: a scan found another version, or the picture came back. unchanged: the host had its bytes already. adopted: an image
 * on the host proved to have its bytes. linked: an image was found whose bytes are not compared yet. arrived, never_arrived:
 * what recovery found out. left_out: the picture is there, and not mirrored any more. kept: the picture is gone, and its image
 * stays for good. held: its deletion waits for a person. postponed: the host refused its deletion. needed: its image was taken
 * out of escrow. lost: the host does not hold its image any more, or the image is somebody else's. */
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
  /** When the event happened. */
  at: Millis
  event: HistoryEvent
  detail?: Reason | null
}

/** The place of a picture: the row of its mirror, and its path below the mirror's folder. */
export interface Location {
  mirror: number
  path: string
}

export type HistoryRow = Location & Required<HistoryNote>

/** The most rows that one path may have. Older rows are removed. */
const MOST_OF_A_PATH = 20

/** What happened to each path. A picture that is found and uploaded gets one row, so that a first sync costs little. */
export function openHistory({ all, changes, get, run, value }: Statements) {
  const add = run<[HistoryRow]>(
    `INSERT INTO history (mirror, path, at, event, detail)
     VALUES (@mirror, @path, @at, @event, @detail)`,
  )
  const lastOf = get<[Location], Pick<HistoryRow, 'event' | 'detail'>>(
    'SELECT event, detail FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1',
  )
  const trim = run<[Location]>(
    `DELETE FROM history WHERE mirror = +@mirror AND path = +@path AND id <= (
       SELECT id FROM history WHERE mirror = +@mirror AND path = +@path ORDER BY id DESC LIMIT 1 OFFSET ${MOST_OF_A_PATH})`,
  )
  const placeOf = get<[name: string, folder: number], Location>(
    `SELECT mirror, CASE path WHEN '' THEN '' ELSE path || '/' END || ? AS path FROM folders WHERE id = ?`,
  )
  const placeOfImage = get<[image: number], Location>('SELECT mirror, path FROM escrow WHERE image = ?')
  const addTo = (place: Location | undefined, { at, event, detail = null }: HistoryNote) => {
    if (!place) return
    const last = lastOf(place)
    if (last?.event === event && last.detail === detail) return
    add({ ...place, at: Math.round(at), event, detail })
    if (last) trim(place)
  }

  return {
    reads: {
      last: (place: Location): HistoryEvent | undefined => lastOf(place)?.event,
      /** The events of a path, the oldest first. */
      of: all<[Location], HistoryRow>(
        `SELECT mirror, path, at, event, detail FROM history
         WHERE mirror = +@mirror AND path = +@path ORDER BY id`,
      ),
      excess: value<[], number>(excessOf('history')),
      oldest: value<[], number | undefined>('SELECT at FROM history ORDER BY id LIMIT 1'),
    },
    writes: {
      /** Adds an event, unless the path's last event is the same. */
      add: ({ mirror, path }: Location, note: HistoryNote) => addTo({ mirror, path }, note),
      ofFile: ({ folder, name }: FileKey, note: HistoryNote) => addTo(placeOf(name, folder), note),
      /** Adds an event to the path of an image that is in escrow. */
      ofImage: (image: number, note: HistoryNote) => addTo(placeOfImage(image), note),
      /** Removes the path's last event when it has this detail and happened at `since` or later. */
      takeBack: run<[Location & { detail: Reason; since: number }]>(
        `DELETE FROM history WHERE id = (
           SELECT max(id) FROM history WHERE mirror = +@mirror AND path = +@path) AND detail = @detail AND at >= +@since`,
      ),
      /** Removes at most `most` rows that are older than this time. Returns how many it removed. */
      dropBefore: changes<[{ moment: number; most: number }]>(
        'DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT +@most) AND at < +@moment',
      ),
      dropOldest: run<[most: number]>(
        'DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT +?)',
      ),
    },
  }
}
