import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Taken in before the program (`node --import`): where ALBUMD_KILL_AT says so, the process kills itself around the commit of
 * the nth run of one statement. What was sent meanwhile stays sent, what SQLite had not committed is lost. The clocks of the
 * process are ahead by ALBUMD_CLOCK_AHEAD milliseconds. */
export interface KillAt {
  sql: string
  moment: 'before' | 'after'
  nth: number
}

const { sql, moment, nth } = JSON.parse(process.env.ALBUMD_KILL_AT ?? '{}') as Partial<KillAt>
let runs = 0

function die(when: KillAt['moment']): void {
  if (when === moment && runs >= nth!) process.kill(process.pid, 'SIGKILL')
}

interface Statement {
  run(...values: unknown[]): unknown
}

/** The compiled part of better-sqlite3. A process loads it once, also where the program has the package's own code in its
 * files. */
interface Compiled {
  prepare(source: string, ...others: unknown[]): Statement
  readonly inTransaction: boolean
}

const require = createRequire(import.meta.url)
const { getBinding } = require(join(dirname(require.resolve('better-sqlite3')), 'binding.js'))
const compiled: Compiled = getBinding().Database.prototype
const { prepare } = compiled

compiled.prepare = function (source, ...others) {
  const statement = prepare.call(this, source, ...others)
  if (source !== sql && source !== 'COMMIT') return statement
  const run = statement.run.bind(statement)
  statement.run = (...values) => {
    if (source === sql) runs++
    // Outside of a transaction the run is its own commit.
    if (source === 'COMMIT' || !this.inTransaction) die('before')
    const result = run(...values)
    if (!this.inTransaction) die('after')
    return result
  }
  return statement
}

const ahead = Number(process.env.ALBUMD_CLOCK_AHEAD ?? 0)
const { now } = Date
const { bigint } = process.hrtime
Date.now = () => now() + ahead
process.hrtime.bigint = () => bigint() + BigInt(ahead) * 1_000_000n
