import type { HostFailure } from '../../../src/remote/host.ts'
import type { Db } from '../../../src/synced/database.ts'

/** Every upload address that the host gives away holds it. */
export const SECRET = 'credential-of-the-simulation'

/** Names a table that holds an upload credential; null: none does. */
export type FindSecret = () => string | null

/** All text of all tables, in one statement: it is asked after each process. */
export function secretFinder(db: Db, tables: readonly string[]): FindSecret {
  const textsOf = db.prepare<[string], string>(
    `SELECT name FROM pragma_table_info(?) WHERE type NOT IN ('INTEGER', 'REAL', 'BLOB')`,
  )
  const searches = tables.flatMap(table => {
    const holds = textsOf
      .pluck()
      .all(table)
      .map(text => `instr(${text}, '${SECRET}')`)
    return holds.length === 0 ? [] : [`SELECT '${table}' FROM ${table} WHERE ${holds.join(' OR ')}`]
  })
  const search = db.prepare<[], string>(`${searches.join(' UNION ALL ')} LIMIT 1`).pluck()
  return () => search.get() ?? null
}

/** Judges where upload credentials are that nobody may read: in the records as a process leaves them, in what it tells for
 * its log, and in the failures that a pass reports. The API key does not come as far as the port that is played here, nor
 * do a host's words that repeat a credential: `test/remote` and `test/e2e/host/secrets.test.ts` look for those. */
export class SecrecyJudge {
  readonly #find: FindSecret
  readonly #report: (invariant: string, what: string) => void

  constructor(find: FindSecret, report: (invariant: string, what: string) => void) {
    this.#find = find
    this.#report = report
  }

  /** A process has ended, or all of a history. */
  records(): void {
    const table = this.#find()
    if (table !== null) this.#found(`the table ${table} holds`)
  }

  event(emitted: { event: string }): void {
    if (holdsSecret(emitted)) this.#found(`the event ${emitted.event} tells`)
  }

  failures(stopped: readonly HostFailure[]): void {
    for (const failure of stopped) if (holdsSecret(failure)) this.#found(`the failure ${failure.code} tells`)
  }

  #found(where: string): void {
    this.#report('nothing-secret-told', `${where} the address of an upload`)
  }
}

function holdsSecret(emitted: object): boolean {
  for (const value of Object.values(emitted))
    if (typeof value === 'string' && value.includes(SECRET)) return true
  return false
}
