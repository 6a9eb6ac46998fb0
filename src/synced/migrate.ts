import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import { damaged, isOfDatabase, StateError } from './state-error.ts'

type Db = Database.Database

/** How many copies of the database from before a migration are kept. Older copies are removed. */
const BACKUPS = 2

/** Migrates a database in one transaction, after a copy. Throws STATE_NEWER, STATE_DAMAGED, STATE_NOT_MIGRATED. */
export function migrate(db: Db, file: string, steps: readonly string[]): void {
  const version = versionOf(db, file, steps)
  if (version === steps.length) return
  if (version > 0) {
    refuseDamaged(db, file)
    if (!db.memory) keepBackup(db, file, steps.length)
  }
  // A step may rebuild a table that others refer to. SQLite ignores this within a transaction.
  db.pragma('foreign_keys = OFF')
  try {
    db.transaction(() => takeSteps(db, file, version, steps)).immediate()
  } catch (error) {
    if (version === 0 || error instanceof StateError || isOfDatabase(error)) throw error
    throw notMigrated(file, (error as Error).message)
  } finally {
    db.pragma('foreign_keys = ON')
  }
}

function takeSteps(db: Db, file: string, version: number, steps: readonly string[]): void {
  if (anyBrokenReference(db)) throw damaged(file, 'a row refers to one that is not there')
  for (const step of steps.slice(version)) db.exec(step)
  if (anyBrokenReference(db)) throw notMigrated(file, 'a row would refer to one that is not there')
  db.pragma(`user_version = ${steps.length}`)
}

function notMigrated(file: string, why: string): StateError {
  return new StateError(
    'STATE_NOT_MIGRATED',
    `${file}: State of an earlier albumd could not be brought up to date (${why}). Install that version again; nothing was changed`,
  )
}

/** The schema's version; 0 when the database is empty. Throws StateError STATE_NEWER. */
export function versionOf(db: Db, file: string, steps: readonly string[]): number {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version > steps.length)
    throw new StateError(
      'STATE_NEWER',
      `${file}: State was written by a newer albumd (schema ${version}, this one knows ${steps.length}). Install that version again`,
    )
  return version
}

/** Checks the whole file. Throws StateError STATE_DAMAGED when the database is damaged. */
export function refuseDamaged(db: Db, file: string): void {
  const found = db.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw damaged(file, String(found).replace(/\s*\n\s*/g, ' '))
  // The database's file was perhaps copied while albumd wrote it. Such a copy mixes pages of two moments, each page intact.
  if (anyBrokenReference(db)) throw damaged(file, 'rows of it are missing')
}

function anyBrokenReference(db: Db): boolean {
  return (db.pragma('foreign_key_check') as unknown[]).length > 0
}

/** Makes a copy of the database before a migration, and removes old copies. */
function keepBackup(db: Db, file: string, version: number): void {
  const backup = freeName(`${file}.before-v${version}`)
  writeCopy(db, `${file}.before-tmp`, backup)
  dropOldBackups(file, backup)
}

/** Writes a complete copy of a database that only its owner can read. `unfinished`: the path of the copy until it is complete.
 * After a failure both paths are empty. Throws SQLite's and Node's errors. */
export function writeCopy(db: Db, unfinished: string, copy: string): void {
  rmSync(unfinished, { force: true })
  try {
    // SQLite would make a file that everybody can read. So an empty file with the right permissions is made first.
    closeSync(openSync(unfinished, 'wx', 0o600))
    db.prepare('VACUUM INTO ?').run(unfinished)
    const written = openSync(unfinished, 'r+')
    fsyncSync(written)
    closeSync(written)
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

function dropOldBackups(file: string, newest: string): void {
  const folder = dirname(file)
  const old = readdirSync(folder)
    .filter(name => name.startsWith(`${basename(file)}.before-v`))
    .map(name => join(folder, name))
    .filter(path => path !== newest)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const path of old.slice(BACKUPS - 1)) rmSync(path, { force: true })
}

/** The path `name`. When it is taken, `name` with a number that is free, so that no file is overwritten. */
export function freeName(name: string): string {
  const taken = new Set(readdirSync(dirname(name)))
  let free = name
  for (let n = 2; taken.has(basename(free)); n++) free = `${name}.${n}`
  return free
}

/** The database and the files beside it, moved together: SQLite would read a log that stayed into the next database. */
const PARTS = ['-wal', '-shm', '-journal', '']

/** Renames a damaged database and the files beside it. Returns the new name. `now`: milliseconds since 1970. */
export function setAside(file: string, now: number): string {
  const moment = new Date(now).toISOString().replace(/\.\d+/, '').replaceAll(':', '-')
  const aside = freeName(`${file}.damaged-${moment}`)
  for (const part of PARTS) if (existsSync(file + part)) renameSync(file + part, aside + part)
  return aside
}
