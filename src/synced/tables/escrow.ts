import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import { isBelow } from '../queries.ts'
import { openLike, withBytes } from './files.ts'
import { idsWith, lostBytes } from './images.ts'

export interface EscrowRow {
  image: number
  mirror: number
  path: string
  /** Why the image is to be deleted. ignored: an ignore rule hides the file, and a person asked to delete such images. */
  reason: 'deleted' | 'superseded' | 'ignored'
  state: 'grace' | 'held' | 'unproved' | 'approved'
  since: number
  /** The running time at which the grace ends and the image may be deleted. 0: without a grace, or a person has ended it. */
  due_at: number
  /** Until when by the wall clock an image without a grace waits as one of many. Null: it is not one of many. */
  many_until: Millis | null
  /** 1: the grace is over, and the host refused to delete the image. Then `due_at` is the time of the next try. */
  postponed: 0 | 1
  /** Why the last pass that might have deleted the image did not, and since when this is the reason. Null: none did so. */
  why: Reason | null
  why_at: Millis | null
}

/** Every transition of an escrow entry: the state that it leads to, and the states that it comes from. 'none': the image
 * is not in escrow. The statements below are made from this table. ARCHITECTURE.md draws it. */
export const ESCROW_TRANSITIONS = {
  entered: { grace: ['none', 'grace'] },
  held: { held: ['grace', 'unproved'] },
  moved: { grace: ['held', 'grace'] },
  unproved: { unproved: ['grace', 'unproved'] },
  proved: { grace: ['unproved'] },
  approved: { approved: ['grace', 'held', 'unproved', 'approved'] },
  'taken back': { none: ['grace', 'held', 'unproved', 'approved'] },
} as const

const inStates = (states: readonly string[]) => `state IN (${states.map(state => `'${state}'`).join()})`

type NewEscrowRow = Omit<EscrowRow, 'many_until' | 'postponed' | 'why' | 'why_at'>

/** The counts that say how many deletions of a mirror come together. */
export interface EscrowWeight {
  /** Images in escrow whose deletion no person has approved, held images included. */
  pending: number
  /** Images that were deleted lately (within the window) without a person's approval. */
  deleted: number
  /** How many of `pending` and `deleted` have a newer image of their picture. */
  edited: number
  /** Files on the disk that use an image. */
  in_use: number
}

/** How long many deletions wait. `due_at`: running time. `by_clock`: 1: those without a grace wait by the wall clock. */
export interface ManyWait {
  mirror: number
  until: Millis
  due_at: number
  by_clock: 0 | 1
  why: Reason
  why_at: Millis
}

/** Deletions of a folder that wait because they are many. `folder`: its path with a slash at its end; '' is the root. */
export interface ManyInFolder {
  folder: string
  deletions: number
}

/** A folder whose deletions wait for a person, or because they are many. `folder`: as in ManyInFolder. */
export interface ToDecideInFolder extends ManyInFolder {
  /** How many of them wait for a person. */
  held: number
  /** How many of them are of pictures that are gone. */
  gone: number
  since: Millis
  /** The ids of the images, with commas between them, in the order of their paths. */
  images: string
}

/** Images that wait for their deletion. */
export function openEscrow({ all, changes, get, has, isEmpty, one, run, value }: Statements) {
  const pathOfBytes = value<[{ hash: Buffer; name: string }], string | undefined>(
    `SELECT path FROM images JOIN escrow ON escrow.image = images.id
     WHERE images.id IN ${idsWith('+@hash')} AND reason = 'deleted'
     ORDER BY name = @name DESC, since DESC LIMIT 1`,
  )
  const nextDue = value<[mirrors: string, now: Millis], number | null>(
    `SELECT min(due_at) FROM escrow WHERE state <> 'held' AND mirror IN (SELECT value FROM json_each(?))
       AND NOT (due_at = 0 AND ifnull(many_until, 0) > +?)`,
  )
  // The hold does not count an image whose picture has moved or may have moved: see `records/moves.ts`.
  const lies = (where: string) => `EXISTS (
    SELECT 1 FROM ${lostBytes('escrow.image')} AS lost CROSS JOIN ${where})`
  const hasMoved = lies(withBytes('lost.hash'))
  const losesBytes = `NOT ${hasMoved} AND NOT ${lies(openLike('lost'))}`
  const toHold = `mirror = +? AND ${inStates(ESCROW_TRANSITIONS.held.held)} AND ${losesBytes}`
  const toDelete = `
    (SELECT count(*) FROM escrow WHERE mirror = +@mirror AND state <> 'approved' AND ${losesBytes}) AS pending,
    (SELECT count(*) FROM deletions WHERE mirror = +@mirror AND at > +@since) AS deleted`
  const toRelease = `${inStates(ESCROW_TRANSITIONS.moved.grace)} AND (state = 'held' OR many_until IS NOT NULL)
    AND ${hasMoved}`
  const waitsAsMany = `mirror = +? AND many_until IS NOT NULL AND state = 'grace'`
  const folder = "rtrim(path, replace(path, '/', '')) AS folder, count(*) AS deletions"
  const toDecide = `mirror = +? AND (state IN ('held','unproved') OR many_until IS NOT NULL)`

  return {
    reads: {
      ofMirror: all<[mirror: number], EscrowRow>('SELECT * FROM escrow WHERE mirror = +? ORDER BY path'),
      /** The entries that wait for a person, or because they are many, in the order of their paths. */
      toDecide: all<[mirror: number], EscrowRow>(`SELECT * FROM escrow WHERE ${toDecide} ORDER BY path`),
      /** The folders of the entries in `toDecide`. */
      toDecideIn: all<[mirror: number], ToDecideInFolder>(
        `SELECT ${folder}, sum(state <> 'grace') AS held, sum(reason = 'deleted') AS gone, min(since) AS since,
           group_concat(image ORDER BY path) AS images
         FROM escrow WHERE ${toDecide} GROUP BY 1 ORDER BY 1`,
      ),
      /** How many entries wait because they are many, and when the last of them is due, in running time and by the clock. */
      many: one<[mirror: number], { deletions: number; due_at: number; until: Millis }>(
        `SELECT count(*) AS deletions, ifnull(max(due_at), 0) AS due_at, ifnull(max(many_until), 0) AS until
         FROM escrow WHERE ${waitsAsMany}`,
      ),
      /** The folders of the entries in `many`, the fullest first. */
      manyIn: all<[mirror: number], ManyInFolder>(
        `SELECT ${folder} FROM escrow WHERE ${waitsAsMany} GROUP BY 1 ORDER BY 2 DESC, 1`,
      ),
      /** The entries that passes have left, by code of the reason, the most first: the one left last, and how many they are. */
      left: all<[mirror: number], EscrowRow & { images: number }>(
        `SELECT *, max(why_at) AS why_at, count(*) AS images FROM escrow
         WHERE mirror = +? AND why IS NOT NULL AND many_until IS NULL AND state IN ('grace','approved')
         GROUP BY postponed, why ->> '$[0]' ORDER BY images DESC, why`,
      ),
      /** The entries of all images that the file at this path has used. */
      atPath: all<[mirror: number, path: string], EscrowRow>(
        'SELECT * FROM escrow WHERE mirror = +? AND path = +? ORDER BY since',
      ),
      /** The entries below this folder, the first due first. */
      below: all<[{ mirror: number; path: string }], EscrowRow>(
        `SELECT * FROM escrow WHERE mirror = +@mirror AND ${isBelow()} ORDER BY due_at`,
      ),
      of: get<[image: number], EscrowRow>('SELECT * FROM escrow WHERE image = ?'),
      /** The path of a deleted picture of these bytes whose image is still in escrow: of one with this name if there is one. */
      pathOfBytes: (picture: { hash: Buffer; name: string }) =>
        isEmpty('escrow') ? undefined : pathOfBytes(picture),
      /** When the next entry of these mirrors is due, in running time; null when none waits for a time. `now`: the wall clock. */
      nextDue: (mirrors: readonly number[], now: Millis) => nextDue(JSON.stringify(mirrors), now),
      /** The entries whose deletion the host has refused. */
      postponed: all<[], EscrowRow>('SELECT * FROM escrow WHERE postponed = 1'),
      /** The counts of a mirror. `since`: the running time at which the window begins. */
      weight: one<[{ mirror: number; since: number }], EscrowWeight>(
        `SELECT ${toDelete},
           (SELECT count(*) FROM escrow WHERE mirror = +@mirror AND state <> 'approved' AND reason = 'superseded'
              AND ${losesBytes}) +
           (SELECT count(*) FROM deletions WHERE mirror = +@mirror AND at > +@since AND edited = 1) AS edited,
           (SELECT count(*) FROM files JOIN folders ON folders.id = files.folder
            WHERE mirror = +@mirror AND image IS NOT NULL AND state NOT IN ('gone', 'kept')) AS in_use`,
      ),
      anyToHold: has<[mirror: number]>(`SELECT 1 FROM escrow WHERE ${toHold} LIMIT 1`),
      anyToDelay: has<[mirror: number]>(
        `SELECT 1 FROM escrow WHERE ${toHold} AND many_until IS NULL LIMIT 1`,
      ),
      anyToRelease: has<[mirror: number]>(`SELECT 1 FROM escrow WHERE mirror = +? AND ${toRelease} LIMIT 1`),
      /** `weight` without `in_use`, which takes a read of all files of the mirror. */
      toDelete: one<[{ mirror: number; since: number }], Pick<EscrowWeight, 'pending' | 'deleted'>>(
        `SELECT ${toDelete}`,
      ),
    },
    writes: {
      put: run<[row: NewEscrowRow]>(`INSERT INTO escrow (image, mirror, path, reason, state, since, due_at)
     VALUES (@image, @mirror, @path, @reason, @state, @since, @due_at)
     ON CONFLICT DO UPDATE SET mirror = excluded.mirror, path = excluded.path, reason = excluded.reason,
       since = excluded.since, due_at = excluded.due_at, many_until = NULL, postponed = 0, why = NULL, why_at = NULL
       WHERE ${inStates(ESCROW_TRANSITIONS.entered.grace)}`),
      giveGrace: run<[{ due_at: number; many_due_at: number }]>(
        `UPDATE escrow SET due_at = CASE WHEN many_until IS NULL THEN +@due_at ELSE +@many_due_at END
         WHERE state = 'grace' AND postponed = 0 AND due_at = 0`,
      ),
      /** Removes an entry, because its image is needed again, or because the image is gone from the host. */
      takeBack: run<[image: number]>('DELETE FROM escrow WHERE image = ?'),
      postpone: run<[{ image: number; due_at: number }]>(
        'UPDATE escrow SET due_at = @due_at, postponed = 1 WHERE image = @image',
      ),
      /** Records why a pass has left the image. When the reason is the same as before, it keeps its time. */
      stay: run<[{ image: number; why: Reason; why_at: Millis }]>(
        'UPDATE escrow SET why = @why, why_at = @why_at WHERE image = @image AND why IS NOT @why',
      ),
      hurry: run<[now: number]>('UPDATE escrow SET due_at = min(due_at, +?) WHERE postponed = 1'),
      /** A person has approved the deletion, so the image may be deleted at once. */
      approve: run<[image: number]>(
        `UPDATE escrow SET state = 'approved', due_at = 0, many_until = NULL, why = NULL, why_at = NULL WHERE image = ? AND ${inStates(ESCROW_TRANSITIONS.approved.approved)}`,
      ),
      /** Holds the entries of a mirror until a person approves or discards them. Returns how many entries became held. */
      hold: changes<[mirror: number]>(`UPDATE escrow SET state = 'held', many_until = NULL WHERE ${toHold}`),
      /** Makes the entries of a mirror wait because they are many. Returns how many did not wait for this before. */
      delay: changes<[ManyWait]>(
        `UPDATE escrow SET many_until = @until, why = @why, why_at = @why_at, due_at = CASE
             WHEN @by_clock AND (due_at = 0 OR postponed) THEN 0 ELSE max(due_at, @due_at) END, postponed = 0
         WHERE mirror = +@mirror AND ${inStates(ESCROW_TRANSITIONS.held.held)} AND many_until IS NULL AND ${losesBytes}`,
      ),
      moveMany: run<[ms: number]>(
        'UPDATE escrow SET many_until = many_until + ? WHERE many_until IS NOT NULL',
      ),
      /** Ends the hold, and the wait of many, of images whose picture has moved. `due_at`: when they are due at the latest. */
      release: changes<[{ mirror: number; due_at: number }]>(
        `UPDATE escrow SET state = 'grace', many_until = NULL, why = NULL, why_at = NULL, due_at = min(due_at, @due_at)
         WHERE mirror = +@mirror AND ${toRelease}`,
      ),
      unproved: run<[{ image: number; due_at: number }]>(
        `UPDATE escrow SET state = 'unproved', due_at = @due_at WHERE image = @image
           AND ${inStates(ESCROW_TRANSITIONS.unproved.unproved)}`,
      ),
      proved: run<[image: number]>(
        `UPDATE escrow SET state = 'grace' WHERE image = ? AND ${inStates(ESCROW_TRANSITIONS.proved.grace)}`,
      ),
      /** Counts a deletion for the hold, unless a person approved it or the picture has only moved. */
      record: run<[{ at: number; image: number }]>(
        `INSERT INTO deletions (at, mirror, image, edited) SELECT @at, mirror, image, reason = 'superseded' FROM escrow
         WHERE image = +@image AND state <> 'approved' AND ${losesBytes}`,
      ),
      /** Forgets deletions that were counted before the hold's window. */
      prune: run<[before: number]>('DELETE FROM deletions WHERE at <= +?'),
    },
  }
}
