import type { Db } from './database.ts'

/**
 * Makes functions of SQL. `P`: the bound values, or one object of named values. `Row`: the columns of a row.
 * get: one row, or undefined. one: the one row. all: all rows. has: whether there is a row. value: the first column of the
 * first row, or undefined. column: the first column of all rows. run: changes rows. changes: changes rows, and answers how
 * many. insert: adds a row, and answers its id.
 */
export function statements(db: Db) {
  return {
    get<P extends unknown[], Row>(sql: string) {
      const statement = db.prepare<unknown[], Row>(sql)
      return (...bound: P) => statement.get(...bound)
    },
    one<P extends unknown[], Row>(sql: string) {
      const statement = db.prepare<unknown[], Row>(sql)
      return (...bound: P) => statement.get(...bound)!
    },
    all<P extends unknown[], Row>(sql: string) {
      const statement = db.prepare<unknown[], Row>(sql)
      return (...bound: P) => statement.all(...bound)
    },
    has<P extends unknown[]>(sql: string) {
      const statement = db.prepare<unknown[]>(sql)
      return (...bound: P) => statement.get(...bound) !== undefined
    },
    value<P extends unknown[], Value>(sql: string) {
      const statement = db.prepare<unknown[], Value>(sql).pluck()
      return (...bound: P) => statement.get(...bound) as Value
    },
    column<P extends unknown[], Value>(sql: string) {
      const statement = db.prepare<unknown[], Value>(sql).pluck()
      return (...bound: P) => statement.all(...bound) as Value[]
    },
    run<P extends unknown[]>(sql: string) {
      const statement = db.prepare<unknown[]>(sql)
      return (...bound: P) => void statement.run(...bound)
    },
    changes<P extends unknown[]>(sql: string) {
      const statement = db.prepare<unknown[]>(sql)
      return (...bound: P) => statement.run(...bound).changes
    },
    insert<P extends unknown[]>(sql: string) {
      const statement = db.prepare<unknown[]>(sql)
      return (...bound: P) => Number(statement.run(...bound).lastInsertRowid)
    },
  }
}
