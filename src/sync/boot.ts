import type { Tx } from '../synced/synced.ts'
import { lostAt, noteLost } from './lost-records.ts'

/**
 * Monotonic times in the records are of one boot. After another one nobody knows how much time has passed since: it
 * counts as none, so what was measured begins anew. `bootId`: of this boot, or one constant where the system has none;
 * then a clock that is behind tells of another boot. `monotonic`: milliseconds. Cut off in the middle, it is done again.
 */
export function noteBoot({ meta, journal, albums, emptied }: Tx, bootId: string, monotonic: number): void {
  const [known, at] = (meta.get('boot') ?? '').split(' ')
  if (known !== bootId || monotonic < Number(at)) {
    // The columns take whole milliseconds.
    for (const table of [journal, albums, emptied]) table.restartClocks(Math.round(monotonic))
    meta.clear('clock_offset')
    if (lostAt({ meta }) !== null) noteLost({ meta }, monotonic)
  }
  meta.set('boot', `${bootId} ${monotonic}`)
}
