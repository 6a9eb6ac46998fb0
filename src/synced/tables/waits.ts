import type { Millis } from '../../protocol/clock.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Statements } from '../database.ts'
import { isBelow, pathOf } from '../queries.ts'
import type { FileKey } from './files.ts'

/** What a picture waits for, as the pass decided. `until`: the end of the wait. Null: nobody can tell it. */
export interface WaitRow extends FileKey {
  why: Reason
  until: Millis | null
  /** Since when it waits for this. */
  at: Millis
}

/** What several pictures wait for, for a reason of one code. Reasons inside of it that differ are left out. `path`: of one. */
export type WaitOfSeveral = Omit<WaitRow, keyof FileKey> & { path: string; pictures: number }

/** Pictures that the last try left for later. A row is removed at the next transition of its file. */
export function openWaits({ all, get, isEmpty, run }: Statements) {
  const of = get<[FileKey], WaitRow>('SELECT * FROM waits WHERE folder = @folder AND name = @name')
  return {
    reads: {
      all: all<[], FileKey>('SELECT folder, name FROM waits'),
      of: (file: FileKey) => (isEmpty('waits') ? undefined : of(file)),
      /** What the pictures at and below a folder wait for, the reason of most of them first. */
      below: all<[{ mirror: number; path: string }], WaitOfSeveral>(
        `SELECT CASE WHEN count(DISTINCT why) = 1 THEN why ELSE json_remove(why, '$[1].why') END AS why, until, max(at) AS at,
           count(*) AS pictures, ${pathOf('name')} AS path FROM waits JOIN folders ON folders.id = waits.folder
         WHERE mirror = +@mirror AND (@path = '' OR path = +@path OR (${isBelow()})) GROUP BY waits.why ->> '$[0]' ORDER BY pictures DESC, waits.why`,
      ),
    },
    writes: {
      put: run<[WaitRow]>(
        'INSERT OR REPLACE INTO waits (folder, name, why, until, at) VALUES (@folder, @name, @why, @until, @at)',
      ),
      clear: run<[FileKey]>('DELETE FROM waits WHERE folder = @folder AND name = @name'),
    },
  }
}
