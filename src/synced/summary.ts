import type { LeftOut } from '../local/look.ts'
import type { Millis } from '../protocol/clock.ts'
import type { Reason } from '../words/reasons.ts'
import type { Statements } from './database.ts'
import { isBelow, pathOf } from './queries.ts'
import { type FileState, mayBeSame } from './tables/files.ts'

/** The counts of one mirror, as `status` shows them. */
export interface MirrorSummary {
  /** How many pictures the last scans found on the disk. */
  files: number
  synced: number
  linked: number
  uncertain: number
  pending_uploads: number
  /** When the oldest of `pending_uploads` was found; null: there is none. */
  pending_since: Millis | null
  pending_deletions: number
  /** How many of `pending_deletions` a person has approved. They wait for no grace, and are not held. */
  approved_deletions: number
  held_deletions: number
  /** Pictures that would be synced or linked, but whose image the last audit found gone from the host. */
  gone_on_host: number
  failed: number
  /** How many of `failed` are no pictures but folders in doubt, for example because they can't be read. */
  folders_in_doubt: number
  left_out: LeftOut
  /** Pictures that are left out now, and whose images stay on the host. */
  left_out_with_image: number
  /** Pictures that are gone, and whose images stay on the host for good. */
  kept: number
  /** Pictures that lie flat: their image is in another album, because their folder's own album could not be had. */
  flat: number
  /** Since when the picture that waits longest has waited; null when none waits. */
  oldest_unsynced: Millis | null
}

/** What is not in sync, by the names of `status --json`. */
export const LEFT = [
  'pending_uploads',
  'failed',
  'uncertain',
  'gone_on_host',
  'pending_deletions',
  'held_deletions',
] as const

/** What is left to do. */
export type LeftToDo = Pick<MirrorSummary, (typeof LEFT)[number] | 'folders_in_doubt' | 'flat'>

/** A path in a mirror, also as the folder above it and its name there. */
interface At {
  mirror: number
  path: string
  above: string
  name: string
}

/** A failure of a path, in a scan or an upload, as people see it. `name`: '' for a folder. */
export interface FailureSummary {
  mirror: number
  folder: number
  name: string
  path: string
  code: string
  message: Reason
  attempts: number
  next_attempt_at: number | null
}

/** Counts of the pictures at and below a folder. */
export interface TreeSummary {
  /** How many pictures the last scans found. */
  files: number
  /** How many are in each state. `gone_on_host`: as in MirrorSummary; those are in no other state. */
  states: Partial<Record<FileState | 'gone_on_host', number>>
  left_out: LeftOut
}

/** What became of the images of a folder's pictures, after the folder was deleted. */
export interface GoneSummary {
  /** Images in escrow whose grace is running, or whose deletion a person has approved. */
  waiting: number
  /** Images whose deletion a person must approve or discard. */
  held: number
  /** Pictures whose image stays on the host for good. */
  kept: number
  /** Pictures whose image was deleted. Those whose rows in the history are already removed are not counted. */
  deleted: number
}

const STRICTLY_BELOW = `mirror = +@mirror AND ${isBelow()}`
const BELOW = `mirror = +@mirror AND (@path = '' OR path = +@path OR (${isBelow()}))`
// A picture that failed and is tried again counts as failed until the new try has ended. So it is in one state at a time.
// Without any failure, no file is looked up.
const IS_TRIED_AGAIN = `state = 'pending' AND EXISTS (SELECT 1 FROM failures) AND EXISTS (SELECT 1 FROM failures
   WHERE failures.folder = files.folder AND failures.name = files.name AND source = 'upload')`
const IS_GONE_ON_HOST = `state IN ('synced','linked') AND image IN (
   SELECT images.id FROM audit_findings CROSS JOIN images USING (remote_id) WHERE kind = 'gone')`
// A path may be a folder's or a file's. The first condition is about folders alone, so that SQLite looks at no file of another
// folder.
const at = (name: string) => `mirror = +@mirror AND (@path = '' OR path = +@path OR path = +@above
     OR (${isBelow()})) AND (@path = '' OR path <> +@above OR ${name} = +@name)`
const GONE = `FROM audit_findings CROSS JOIN images USING (remote_id) CROSS JOIN files ON files.image = images.id
     CROSS JOIN folders ON folders.id = files.folder
   WHERE kind = 'gone' AND state IN ('synced','linked') AND`
const FAILURE = `SELECT mirror, failures.folder, failures.name,
     ${pathOf('failures.name')} AS path, code, message, attempts, next_attempt_at
   FROM failures CROSS JOIN folders ON folders.id = failures.folder`

/** All that `status` and its like count and list. */
export function openSummaries(statements: Statements) {
  return {
    reads: {
      ...countMirrors(statements),
      ...countTrees(statements),
      ...countLost(statements),
      ...listFailures(statements),
    },
    writes: {},
  }
}

/** What the last scans found at and below a folder. */
function lookBelow({ one }: Statements) {
  return one<[{ mirror: number; path: string }], LeftOut & { files: number }>(
    `SELECT ifnull(sum(files), 0) AS files, ifnull(sum(left_format), 0) AS format,
       ifnull(sum(left_ignored), 0) AS ignored, ifnull(sum(left_hidden), 0) AS hidden,
       ifnull(sum(left_empty), 0) AS empty, ifnull(sum(left_links), 0) AS links FROM folders WHERE ${BELOW}`,
  )
}

/** The counts of a mirror, and what is left to do at a place. */
function countMirrors(statements: Statements) {
  const { all, one, value } = statements
  const lookedBelow = lookBelow(statements)
  // It reads the index alone, without any row of a file, so that a million pictures to be sent take a tenth of a second.
  const open = all<[mirror: number], { state: FileState; n: number; tried_again: number }>(
    `SELECT state, count(*) AS n, sum(${IS_TRIED_AGAIN}) AS tried_again
     FROM files CROSS JOIN folders ON folders.id = files.folder
     WHERE state <> 'synced' AND mirror = +? GROUP BY state`,
  )
  const pendingSince = value<[mirror: number], Millis | undefined>(
    `SELECT since FROM files INDEXED BY files_pending_since CROSS JOIN folders ON folders.id = files.folder
     WHERE state = 'pending' AND since IS NOT NULL AND mirror = +? ORDER BY since LIMIT 1`,
  )
  const othersSince = value<[mirror: number], Millis | null>(
    `SELECT min(since) FROM files CROSS JOIN folders ON folders.id = files.folder
     WHERE state IN ('failed','uncertain') AND state <> 'synced' AND mirror = +?`,
  )
  type Escrowed = Pick<MirrorSummary, 'held_deletions' | 'pending_deletions' | 'approved_deletions'>
  const escrowedBelow = one<[{ mirror: number; path: string }], Escrowed>(
    `SELECT ifnull(sum(state IN ('held','unproved')), 0) AS held_deletions,
       ifnull(sum(state IN ('grace','approved')), 0) AS pending_deletions,
       ifnull(sum(state = 'approved'), 0) AS approved_deletions FROM escrow WHERE ${BELOW}`,
  )
  const statesAt = one<[At], Pick<MirrorSummary, 'pending_uploads' | 'uncertain' | 'flat'>>(
    `SELECT ifnull(sum(state = 'pending' AND NOT (${IS_TRIED_AGAIN})), 0) AS pending_uploads,
        ifnull(sum(state = 'uncertain'), 0) AS uncertain,
       ifnull(sum(flat > 0 AND state = 'synced'), 0) AS flat
     FROM folders CROSS JOIN files ON files.folder = folders.id WHERE ${at('files.name')}`,
  )
  const failedAt = one<[At], Pick<MirrorSummary, 'failed' | 'folders_in_doubt'>>(
    `SELECT count(*) AS failed, ifnull(sum(failures.name = ''), 0) AS folders_in_doubt
     FROM failures CROSS JOIN folders ON folders.id = failures.folder
     WHERE source <> 'uncertain' AND ${at('failures.name')}`,
  )
  // The query repeats the condition of the partial index (`state <> 'synced'`), because SQLite uses the index only then.
  const withImage = value<[state: FileState, mirror: number], number>(
    `SELECT count(*) FROM files CROSS JOIN folders ON folders.id = files.folder
     WHERE state = ? AND state <> 'synced' AND image IS NOT NULL AND mirror = +?`,
  )
  const goneOnHost = all<[mirror: number], { state: FileState; n: number }>(
    `SELECT state, count(*) AS n ${GONE} mirror = +? GROUP BY state`,
  )
  const goneAt = value<[At], number>(`SELECT count(*) ${GONE} ${at('files.name')}`)
  const firstGone = value<[mirror: number], string | undefined>(
    `SELECT ${pathOf()} ${GONE} mirror = +? ORDER BY 1 LIMIT 1`,
  )
  const countFlat = value<[mirror: number], number>(
    `SELECT count(*) FROM files INDEXED BY files_flat CROSS JOIN folders ON folders.id = files.folder
     WHERE flat > 0 AND state = 'synced' AND mirror = +?`,
  )

  return {
    mirror(mirror: number): MirrorSummary {
      const root = { mirror, path: '', above: '', name: '' }
      const { files, ...left_out } = lookedBelow(root)
      const states = new Map(open(mirror).map(row => [row.state, row]))
      const count = (state: FileState) => states.get(state)?.n ?? 0
      const pending_since = pendingSince(mirror) ?? null
      const waiting = [pending_since, othersSince(mirror)].filter(since => since !== null)
      const unsynced = count('pending') + count('failed') + count('linked') + count('uncertain')
      const gone = new Map(goneOnHost(mirror).map(({ state, n }) => [state, n]))
      const [syncedGone, linkedGone] = [gone.get('synced') ?? 0, gone.get('linked') ?? 0]
      return {
        files,
        synced: Math.max(0, files - unsynced - syncedGone),
        linked: count('linked') - linkedGone,
        gone_on_host: syncedGone + linkedGone,
        uncertain: count('uncertain'),
        pending_uploads: count('pending') - (states.get('pending')?.tried_again ?? 0),
        pending_since,
        ...escrowedBelow(root),
        ...failedAt(root),
        left_out,
        left_out_with_image: withImage('hidden', mirror),
        kept: count('kept'),
        flat: countFlat(mirror),
        oldest_unsynced: waiting.length > 0 ? Math.min(...waiting) : null,
      }
    },
    /** How many failed pictures still use the image of an earlier version. */
    failedWithImage: (mirror: number) => withImage('failed', mirror),
    /** The path of the first picture that counts in `gone_on_host`; null when none does. */
    firstGone: (mirror: number) => firstGone(mirror) ?? null,
    /** What is left to do of the picture at this path, or of the pictures at and below this folder. */
    leftAt(place: At): LeftToDo {
      const { mirror, path } = place
      return {
        ...statesAt(place),
        gone_on_host: goneAt(place),
        ...failedAt(place),
        ...escrowedBelow({ mirror, path }),
      }
    },
  }
}

/** Counts the pictures at and below a folder, and what became of those that are gone. */
function countTrees(statements: Statements) {
  const { all, one, value } = statements
  const lookedBelow = lookBelow(statements)
  const statesBelow = all<
    [{ mirror: number; path: string }],
    { state: keyof TreeSummary['states']; n: number }
  >(
    `SELECT CASE WHEN ${IS_TRIED_AGAIN} THEN 'failed' WHEN ${IS_GONE_ON_HOST} THEN 'gone_on_host' ELSE state END AS state, count(*) AS n
     FROM folders CROSS JOIN files ON files.folder = folders.id WHERE ${BELOW} GROUP BY 1`,
  )

  return {
    below(mirror: number, path: string): TreeSummary {
      const { files, ...left_out } = lookedBelow({ mirror, path })
      const states = Object.fromEntries(statesBelow({ mirror, path }).map(({ state, n }) => [state, n]))
      return { files, states, left_out }
    },
    /** Since when the oldest picture below a folder waits to be sent; null: none waits. */
    sendSince: value<[{ mirror: number; path: string }], number | null>(
      `SELECT min(since) FROM folders CROSS JOIN files ON files.folder = folders.id
       WHERE ${BELOW} AND state = 'pending' AND NOT (${mayBeSame})`,
    ),
    /** What became of the images of the pictures below a folder that is gone. Does not work for the root. */
    goneBelow: one<[{ mirror: number; path: string }], GoneSummary>(
      `SELECT
         (SELECT count(*) FROM escrow WHERE ${STRICTLY_BELOW} AND state IN ('grace','approved')) AS waiting,
         (SELECT count(*) FROM escrow WHERE ${STRICTLY_BELOW} AND state IN ('held','unproved')) AS held,
         (SELECT count(*) FROM folders CROSS JOIN files ON files.folder = folders.id
          WHERE ${BELOW} AND state = 'kept' AND state <> 'synced') AS kept,
         (SELECT count(*) FROM (SELECT event, max(id) FROM history WHERE ${STRICTLY_BELOW} GROUP BY path)
          WHERE event = 'deleted') AS deleted`,
    ),
  }
}

/** Pictures whose images were lost. */
function countLost({ value }: Statements) {
  // Splits the path of each loss, and looks the file up by it: few rows tell of a loss, and all files may be very many.
  const above = `rtrim(lost.path, replace(lost.path, '/', ''))`
  const lost = value<[mirrors: string], number>(
    `SELECT count(*) FROM history AS lost
       CROSS JOIN folders ON folders.mirror = lost.mirror AND folders.path = rtrim(${above}, '/')
       CROSS JOIN files ON files.folder = folders.id AND files.name = substr(lost.path, length(${above}) + 1)
     WHERE lost.event = 'lost' AND lost.detail ->> '$[0]' = 'image_not_found' AND files.image IS NULL
       AND files.state IN ('pending','uncertain','failed') AND lost.mirror IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM history AS later WHERE later.mirror = lost.mirror AND later.path = lost.path
         AND later.id > lost.id AND later.event IN ('gone','lost','uploaded','adopted','linked','unchanged','arrived'))`,
  )

  return {
    /** How many pictures of these mirrors lost their images on the host and have no new ones there yet. */
    lost: (mirrors: readonly number[]) => lost(JSON.stringify(mirrors)),
  }
}

/** Failures, each as people see it. */
function listFailures({ all, column }: Statements) {
  return {
    /** At most `most` failures, in the order of their paths. */
    failures: all<[most: number], FailureSummary>(`${FAILURE} ORDER BY mirror, path LIMIT +?`),
    /** At most `most` failures by path: folders and uploads in doubt first, then what albumd does not retry by itself. */
    failuresOf: all<[mirror: number, most: number], FailureSummary>(
      `${FAILURE} WHERE mirror = +?
       ORDER BY name <> '' AND code <> 'UNCERTAIN', next_attempt_at IS NOT NULL, path LIMIT +?`,
    ),
    /** How many failures a mirror has of each code. */
    failuresByCode: all<
      [mirror: number],
      { code: string; n: number }
    >(`SELECT code, count(*) AS n FROM failures CROSS JOIN folders ON folders.id = failures.folder
   WHERE mirror = +? GROUP BY code`),
    /** The names of the files of a mirror whose recorded failure has this code. */
    namesOfCode: column<[mirror: number, code: string], string>(
      'SELECT name FROM failures CROSS JOIN folders ON folders.id = failures.folder WHERE mirror = +? AND code = ?',
    ),
  }
}
