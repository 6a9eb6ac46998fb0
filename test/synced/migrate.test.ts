import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Db, openDatabase, openDatabaseToRead } from '../../src/synced/database.ts'
import { migrate } from '../../src/synced/migrate.ts'
import { STEPS } from '../../src/synced/schema.ts'
import { tempFile } from '../temp-folder.ts'

/** The versions of a schema that only these tests have. */
const VERSIONS = [
  `CREATE TABLE images (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
   CREATE TABLE files (name TEXT PRIMARY KEY, image INTEGER REFERENCES images) STRICT;`,
  `ALTER TABLE images ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE new_files (name TEXT PRIMARY KEY, image INTEGER REFERENCES images, state TEXT NOT NULL) STRICT;
   INSERT INTO new_files SELECT name, image, 'synced' FROM files;
   DROP TABLE files;
   ALTER TABLE new_files RENAME TO files;`,
  'CREATE INDEX files_by_image ON files (image);',
]

/** A database of the first version, with rows. */
function version1(): string {
  const file = tempFile('albumd.db')
  const db = openDatabase(file, VERSIONS.slice(0, 1))
  db.exec(`INSERT INTO images VALUES (7, 'red.png'), (8, 'old.png'), (9, 'gone.png');
           INSERT INTO files VALUES ('red.png', 7), ('old.png', 8)`)
  db.close()
  return file
}

function connect(file: string): Db {
  const db = new Database(file)
  onTestFinished(() => void db.close())
  return db
}

const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const backups = (file: string) =>
  readdirSync(dirname(file))
    .filter(name => name.includes('.before-'))
    .sort()
const rows = (db: Db, table: string) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all() as object[]
const tables = (db: Db) =>
  db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`).pluck().all() as string[]

describe('a database of an earlier albumd', () => {
  it('is written into the log alone, however much changes: its witness still tells of the file as it was', () => {
    const file = version1()
    const before = digest(file)
    const large = `CREATE TABLE large (bytes BLOB) STRICT; INSERT INTO large VALUES (zeroblob(${20 * 2 ** 20}))`
    const db = openDatabase(file, [...VERSIONS.slice(0, 1), large])
    onTestFinished(() => void db.close())
    expect(digest(file)).toBe(before)
  })

  it('is brought up to date with every row that it had', () => {
    const file = version1()
    const before = connect(file)
    const had = Object.fromEntries(tables(before).map(table => [table, rows(before, table)]))
    before.close()
    const db = openDatabase(file, VERSIONS)
    onTestFinished(() => void db.close())
    for (const [table, old] of Object.entries(had)) {
      expect(old.length, table).toBeGreaterThan(0)
      expect(rows(db, table), table).toMatchObject(old)
    }
    expect(db.pragma('user_version', { simple: true })).toBe(VERSIONS.length)
    expect(db.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(db.pragma('foreign_key_check')).toEqual([])
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  })

  it('has the schema of a new one then', () => {
    const schema = (db: Db) => {
      const found = tables(db).map(table => [
        table,
        db.pragma(`table_info(${table})`),
        db.pragma(`index_list(${table})`),
        db.pragma(`foreign_key_list(${table})`),
      ])
      db.close()
      return found
    }
    expect(schema(openDatabase(version1(), VERSIONS))).toEqual(
      schema(openDatabase(tempFile('albumd.db'), VERSIONS)),
    )
  })

  it('leaves a copy of itself beside, for its owner alone', () => {
    const file = version1()
    openDatabase(file, VERSIONS).close()
    const name = `albumd.db.before-v${VERSIONS.length}`
    expect(backups(file)).toEqual([name])
    const backup = `${dirname(file)}/${name}`
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    const copy = connect(backup)
    expect(copy.pragma('user_version', { simple: true })).toBe(1)
    expect(rows(copy, 'images')).toHaveLength(3)
    openDatabase(file, VERSIONS).close()
    expect(backups(file)).toEqual([name])
  })

  it('keeps the two latest copies and overwrites none', () => {
    const file = version1()
    const made: string[] = []
    for (let version = 2; version <= 4; version++) {
      const db = connect(file)
      migrate(db, file, [...VERSIONS.slice(0, 1), ...Array(version - 1).fill('SELECT 1')])
      const newest = backups(file).at(-1)!
      made.push(newest)
      // One after the other, on any file system.
      utimesSync(`${dirname(file)}/${newest}`, version, version)
    }
    expect(made).toEqual(['albumd.db.before-v2', 'albumd.db.before-v3', 'albumd.db.before-v4'])
    expect(backups(file)).toEqual(made.slice(1))
    const kept = digest(`${dirname(file)}/albumd.db.before-v4`)
    const db = connect(file)
    db.pragma('user_version = 3')
    migrate(db, file, [...VERSIONS.slice(0, 1), ...Array(3).fill('SELECT 1')])
    expect(backups(file)).toEqual(['albumd.db.before-v4', 'albumd.db.before-v4.2'])
    expect(digest(`${dirname(file)}/albumd.db.before-v4`)).toBe(kept)
  })

  it.each([
    ['fails', 'ALTER TABLE images ADD COLUMN extra TEXT; INSERT INTO nowhere VALUES (1)'],
    ['would leave a row that refers to nothing', 'DELETE FROM images WHERE id = 7'],
  ])('stays as it was where a step %s', (_, step) => {
    const file = version1()
    const db = connect(file)
    const before = rows(db, 'images')
    expect(() => migrate(db, file, [VERSIONS[0]!, step])).toThrow(
      expect.objectContaining({ code: 'STATE_NOT_MIGRATED', message: expect.stringContaining(file) }),
    )
    expect(db.pragma('user_version', { simple: true })).toBe(1)
    expect(rows(db, 'images')).toEqual(before)
  })

  it('is damaged where a row refers to nothing already', () => {
    const file = version1()
    const db = connect(file)
    db.exec('PRAGMA foreign_keys = OFF; DELETE FROM images WHERE id = 7')
    expect(() => openDatabase(file, VERSIONS)).toThrow(expect.objectContaining({ code: 'STATE_DAMAGED' }))
  })

  it('is looked at as one of today, and left alone', () => {
    const file = version1()
    const before = digest(file)
    const db = openDatabaseToRead(file, VERSIONS)
    expect(db.pragma('user_version', { simple: true })).toBe(VERSIONS.length)
    expect(rows(db, 'images')).toHaveLength(3)
    db.close()
    expect(backups(file)).toEqual([])
    expect(digest(file)).toBe(before)
  })
})

it('what an earlier albumd held for an older copy stays another folder', () => {
  const file = tempFile('albumd.db')
  // Of the last version that told older copies by their times.
  const before = openDatabase(file, STEPS.slice(0, 7))
  before.exec(`INSERT INTO mirrors (id, folder, album) VALUES (1, '/p', 'P');
    INSERT INTO folders (mirror, path, unknown) VALUES (1, 'a', '["folder_older",{"folder":"/p/a"}]'), (1, 'b', NULL)`)
  before.close()
  openDatabase(file, STEPS).close()
  const births = connect(file).prepare('SELECT birthtime FROM folders ORDER BY path').pluck().all()
  expect(births).toEqual([1, null])
})

it('a picture that an earlier albumd called incomplete is judged anew', () => {
  const file = tempFile('albumd.db')
  const before = openDatabase(file, STEPS.slice(0, 16))
  before.exec(`INSERT INTO mirrors (id, folder, album) VALUES (1, '/p', 'P');
    INSERT INTO folders (id, mirror, path) VALUES (1, 1, '')`)
  for (const [name, code] of [
    ['a.jpg', 'PICTURE_INCOMPLETE'],
    ['b.jpg', 'NOT_A_PICTURE'],
  ])
    before.exec(`INSERT INTO files (folder, name, size, mtime, ctime, ino, state, since, flat)
        VALUES (1, '${name}', 1, 1, 1, 1, 'failed', 1, 0);
      INSERT INTO failures (folder, name, source, code, message, attempts)
        VALUES (1, '${name}', 'upload', '${code}', '[]', 1)`)
  before.close()
  openDatabase(file, STEPS).close()
  const states = connect(file).prepare('SELECT state FROM files ORDER BY name').pluck().all()
  expect(states).toEqual(['pending', 'failed'])
})

it('a file of every state is kept, and no other is taken than before', () => {
  const file = tempFile('albumd.db')
  const states = ['pending', 'synced', 'linked', 'uncertain', 'failed', 'gone', 'kept', 'hidden']
  const add = (db: Db, state: string, flat = 0) =>
    db
      .prepare('INSERT INTO files VALUES (1, ?, 1, 2, 3, 4, ?, 5, NULL, ?, ?)')
      .run(state, state, Buffer.of(6), flat)
  // Of the last version that compared states with a list.
  const before = openDatabase(file, STEPS.slice(0, 19))
  before.exec(`INSERT INTO mirrors (id, folder, album) VALUES (1, '/p', 'P');
    INSERT INTO folders (id, mirror, path) VALUES (1, 1, '')`)
  for (const state of states) add(before, state)
  const known = rows(before, 'files')
  before.close()
  const db = openDatabase(file, STEPS)
  onTestFinished(() => void db.close())
  expect(rows(db, 'files')).toEqual(known)
  expect(() => add(db, 'another')).toThrow('CHECK constraint failed')
  db.exec('DELETE FROM files')
  for (const state of states) add(db, state, 1)
  db.exec('DELETE FROM files')
  expect(() => add(db, 'pending', 2)).toThrow('CHECK constraint failed')
})
