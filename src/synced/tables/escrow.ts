import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import { isBelow } from '../queries.ts'
import { openLike, withBytes } from './files.ts'

export interface EscrowRow {
  image: number
  mirror: number
  path: string
  /** Why the image is to be deleted. ignored: an ignore rule hides the file, and a person asked to delete such images. */
  reason: 'deleted' | 'superseded' | 'ignored'
  state: 'grace' | 'held' | 'unproved' | 'approved'
  since: number
  /** The running time at which the grace ends and the image may be deleted. 0: a person has ended the grace. */
  due_at: number
  /** 1: the grace is over, and the host refused to delete the image. Then `due_at` is the time of the next try. */
  postponed: 0 | 1
  /** Why the last pass that might have deleted the image did not, and since when. Null: no pass has decided so. */
  why: Reason | null
  why_at: Millis | null
}

/** Every transition of an escrow entry: the state that it leads to, and the states that it comes from. 'none': the image
 * is not in escrow. The statements below are made from this table. ARCHITECTURE.md draws it. */
export const ESCROW_TRANSITIONS = {
  entered: { grace: ['none', 'grace'] },
  held: { held: ['grace', 'unproved'] },
  unproved: { unproved: ['grace', 'unproved'] },
  proved: { grace: ['unproved'] },
  approved: { approved: ['grace', 'held', 'unproved', 'approved'] },
  'taken back': { none: ['grace', 'held', 'unproved', 'approved'] },
} as const

const inStates = (states: readonly string[]) => `state IN (${states.map(state => `'${state}'`).join()})`

type NewEscrowRow = Omit<EscrowRow, 'postponed' | 'why' | 'why_at'>

/** The three counts by which the hold decides whether a mirror deletes too much at once. */
export interface EscrowWeight {
  /** Images in escrow whose deletion no person has approved, held images included. */
  pending: number
  /** Images that were deleted lately (within the hold's window) without a person's approval. */
  deleted: number
  /** Files on the disk that use an image. */
  in_use: number
}

/** Images that wait for their deletion. */
export function openEscrow({ all, changes, get, has, isEmpty, one, run, value }: Statements) {
  const pathOfBytes = value<[{ hash: Buffer; name: string }], string | undefined>(
    `SELECT path FROM images JOIN escrow ON escrow.image = images.id WHERE hash = +@hash AND reason = 'deleted'
     ORDER BY name = @name DESC, since DESC LIMIT 1`,
  )
  const nextDue = value<[mirrors: string], number | null>(
    `SELECT min(due_at) FROM escrow WHERE state <> 'held' AND mirror IN (SELECT value FROM json_each(?))`,
  )
  // An image whose picture has moved, or may have moved, is not counted for the hold: see `records/moves.ts`.
  const losesBytes = `NOT EXISTS (
    SELECT 1 FROM images AS lost CROSS JOIN ${withBytes('lost.hash')} WHERE lost.id = escrow.image)
    AND NOT EXISTS (
    SELECT 1 FROM images AS lost CROSS JOIN ${openLike('lost')} WHERE lost.id = escrow.image)`
  const toHold = `mirror = +? AND ${inStates(ESCROW_TRANSITIONS.held.held)} AND ${losesBytes}`
  const toDelete = `
    (SELECT count(*) FROM escrow WHERE mirror = +@mirror AND state <> 'approved' AND ${losesBytes}) AS pending,
    (SELECT count(*) FROM deletions WHERE mirror = +@mirror AND at > +@since) AS deleted`

  return {
    reads: {
      ofMirror: all<[mirror: number], EscrowRow>('SELECT * FROM escrow WHERE mirror = +? ORDER BY path'),
      /** At most `most` entries that wait for a person (held or unproved), in the order of their paths. */
      held: all<[mirror: number, most: number], EscrowRow>(
        `SELECT * FROM escrow WHERE mirror = +? AND state IN ('held','unproved') ORDER BY path LIMIT +?`,
      ),
      /** The entries of all images that the file at this path has used. */
      atPath: all<[mirror: number, path: string], EscrowRow>(
        'SELECT * FROM escrow WHERE mirror = +? AND path = +? ORDER BY since',
      ),
      /** The entries below this folder, the one that is due first first. */
      below: all<[{ mirror: number; path: string }], EscrowRow>(
        `SELECT * FROM escrow WHERE mirror = +@mirror AND ${isBelow()} ORDER BY due_at`,
      ),
      of: get<[image: number], EscrowRow>('SELECT * FROM escrow WHERE image = ?'),
      /** The path of a deleted picture of these bytes whose image is still in escrow: one of this name, else the last. */
      pathOfBytes: (image: { hash: Buffer; name: string }) =>
        isEmpty('escrow') ? undefined : pathOfBytes(image),
      /** When the next entry of these mirrors is due, in running time; null when none waits for a time. */
      nextDue: (mirrors: readonly number[]) => nextDue(JSON.stringify(mirrors)),
      /** The entries whose deletion the host has refused. */
      postponed: all<[], EscrowRow>('SELECT * FROM escrow WHERE postponed = 1'),
      /** The three counts of a mirror. `since`: the running time at which the hold's window begins. */
      weight: one<[{ mirror: number; since: number }], EscrowWeight>(
        `SELECT ${toDelete},
           (SELECT count(*) FROM files JOIN folders ON folders.id = files.folder
            WHERE mirror = +@mirror AND image IS NOT NULL AND state NOT IN ('gone', 'kept')) AS in_use`,
      ),
      /** Whether an image in escrow counts for the hold, and is held with the others. */
      isCounted: has<[image: number]>(`SELECT 1 FROM escrow WHERE image = +? AND ${losesBytes}`),
      /** Whether there is an entry that `hold` would hold. */
      anyToHold: has<[mirror: number]>(`SELECT 1 FROM escrow WHERE ${toHold} LIMIT 1`),
      /** `weight` without `in_use`, for which all files of the mirror are read. */
      toDelete: one<[{ mirror: number; since: number }], Omit<EscrowWeight, 'in_use'>>(`SELECT ${toDelete}`),
    },
    writes: {
      put: run<[row: NewEscrowRow]>(`INSERT INTO escrow (image, mirror, path, reason, state, since, due_at)
     VALUES (@image, @mirror, @path, @reason, @state, @since, @due_at)
     ON CONFLICT DO UPDATE SET mirror = excluded.mirror, path = excluded.path, reason = excluded.reason,
       since = excluded.since, due_at = excluded.due_at, postponed = 0, why = NULL, why_at = NULL
       WHERE ${inStates(ESCROW_TRANSITIONS.entered.grace)}`),
      giveGrace: run<[{ without: number; due_at: number }]>(
        `UPDATE escrow SET due_at = +@due_at WHERE state = 'grace' AND postponed = 0 AND due_at = +@without`,
      ),
      /** Removes an entry, because its image is needed again, or because the image is gone from the host. */
      takeBack: run<[image: number]>('DELETE FROM escrow WHERE image = ?'),
      postpone: run<[{ image: number; due_at: number }]>(
        'UPDATE escrow SET due_at = @due_at, postponed = 1 WHERE image = @image',
      ),
      /** A pass has left the image. A reason that stays the same keeps its time. */
      stay: run<[{ image: number; why: Reason; why_at: Millis }]>(
        'UPDATE escrow SET why = @why, why_at = @why_at WHERE image = @image AND why IS NOT @why',
      ),
      hurry: run<[now: number]>('UPDATE escrow SET due_at = min(due_at, +?) WHERE postponed = 1'),
      /** A person has approved the deletion, so the image may be deleted at once. */
      approve: run<[image: number]>(
        `UPDATE escrow SET state = 'approved', due_at = 0, why = NULL, why_at = NULL WHERE image = ? AND ${inStates(ESCROW_TRANSITIONS.approved.approved)}`,
      ),
      /** Holds the entries of a mirror until a person approves or discards them. Returns how many entries became held. */
      hold: changes<[mirror: number]>(`UPDATE escrow SET state = 'held' WHERE ${toHold}`),
      unproved: run<[{ image: number; due_at: number }]>(
        `UPDATE escrow SET state = 'unproved', due_at = @due_at WHERE image = @image
           AND ${inStates(ESCROW_TRANSITIONS.unproved.unproved)}`,
      ),
      proved: run<[image: number]>(
        `UPDATE escrow SET state = 'grace' WHERE image = ? AND ${inStates(ESCROW_TRANSITIONS.proved.grace)}`,
      ),
      /**
       * Counts the deletion of an image for the hold, unless a person approved the deletion or the picture has only moved.
       */
      record: run<[{ at: number; image: number }]>(
        `INSERT INTO deletions (at, mirror, image) SELECT @at, mirror, image FROM escrow
         WHERE image = +@image AND state <> 'approved' AND ${losesBytes}`,
      ),
      /** Forgets deletions that were counted before the hold's window. */
      prune: run<[before: number]>('DELETE FROM deletions WHERE at <= +?'),
    },
  }
}
