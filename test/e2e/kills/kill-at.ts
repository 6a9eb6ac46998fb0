import Database from 'better-sqlite3'

/** Taken in before the program (`node --import`): where ALBUMD_KILL_AT says so, the process kills itself around the commit of
 * the nth run of one statement. What was sent meanwhile stays sent, what SQLite had not committed is lost. The clocks of the
 * process are ahead by ALBUMD_CLOCK_AHEAD milliseconds. */
export interface KillAt {
  sql: string
  moment: 'before' | 'after'
  nth: number
}

const { sql, moment, nth } = JSON.parse(process.env.ALBUMD_KILL_AT ?? '{}') as Partial<KillAt>
const { prepare, transaction } = Database.prototype
let runs = 0
let depth = 0

function die(when: KillAt['moment']): void {
  if (when === moment && runs >= nth!) process.kill(process.pid, 'SIGKILL')
}

Database.prototype.prepare = function (this: Database.Database, source: string) {
  const statement = prepare.call(this, source)
  if (source !== sql) return statement
  const run = statement.run.bind(statement) as (...values: unknown[]) => Database.RunResult
  statement.run = (...values: unknown[]) => {
    runs++
    // Outside of a transaction the run is its own commit.
    if (!this.inTransaction) die('before')
    const result = run(...values)
    if (!this.inTransaction) die('after')
    return result
  }
  return statement
} as typeof prepare

Database.prototype.transaction = function (this: Database.Database, change: (...args: unknown[]) => unknown) {
  const whole = transaction.call(this, (...args: unknown[]) => {
    depth++
    try {
      const value = change(...args)
      if (depth === 1) die('before')
      return value
    } finally {
      depth--
    }
  })
  const watched =
    (run: (...args: unknown[]) => unknown) =>
    (...args: unknown[]) => {
      const value = run(...args)
      if (depth === 0) die('after')
      return value
    }
  return Object.assign(watched(whole), {
    default: watched(whole.default),
    deferred: watched(whole.deferred),
    immediate: watched(whole.immediate),
    exclusive: watched(whole.exclusive),
  })
} as typeof transaction

const ahead = Number(process.env.ALBUMD_CLOCK_AHEAD ?? 0)
const { now } = Date
const { bigint } = process.hrtime
Date.now = () => now() + ahead
process.hrtime.bigint = () => bigint() + BigInt(ahead) * 1_000_000n
