import Database from 'better-sqlite3'

export type Db = Database.Database

/** Opens or makes the host's database; ':memory:' for a database without a file. Each commit is on the disk before it
 * returns, because the host then answers that the change was made. Throws when the data was written by a newer version.
 *
 * Statements that search an index of many rows write a bound value as `+?`, so that SQLite does not prepare the statement
 * again for each value. */
export function openDatabase(file: string): Db {
  const db = new Database(file)
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    migrate(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

function migrate(db: Db, file: string): void {
  const version = db.pragma('user_version', { simple: true }) as number
  if (version === STEPS.length) return
  if (version > STEPS.length)
    throw new Error(`${file}: a newer albumd wrote it (schema ${version}); install that version again`)
  db.transaction(() => {
    for (const step of STEPS.slice(version)) db.exec(step)
    db.pragma(`user_version = ${STEPS.length}`)
  }).immediate()
}

/** Locks a data folder until the process ends. Returns a function that unlocks it. Throws with code HOST_DATA_IN_USE. */
export function lockData(folder: string, file: string): () => void {
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw Object.assign(new Error(`${folder}: another host serves this folder`), {
        code: 'HOST_DATA_IN_USE',
      })
    throw error
  }
  return () => void db.close()
}

/** The schema of the embedded host's data. An account's root (§1.2) is an album of depth 0 without a parent, whose id is
 * told to nobody. `seq` is the order of creation and of listings. Times are milliseconds since 1970, sizes are bytes.
 *
 * Each step turns the previous version of the schema into the next version. To change the schema, add a step, because
 * existing databases have taken the earlier steps already. */
export const STEPS = [
  `
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY,
  key_hash BLOB NOT NULL UNIQUE,
  stored_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE albums (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL REFERENCES accounts (id),
  parent INTEGER REFERENCES albums (seq),
  name TEXT NOT NULL,
  depth INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX albums_by_parent ON albums (parent, seq);
CREATE UNIQUE INDEX roots ON albums (account) WHERE parent IS NULL;

CREATE TABLE images (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account INTEGER NOT NULL REFERENCES accounts (id),
  album INTEGER NOT NULL REFERENCES albums (seq),
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  mime TEXT NOT NULL,
  width INTEGER,
  height INTEGER,
  sha256 TEXT NOT NULL,
  file TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX images_by_album ON images (album, seq);

-- The album is no foreign key: a credential outlives its album, so that the upload can be told what became of it.
CREATE TABLE credentials (
  token_hash BLOB PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES accounts (id),
  image_id TEXT NOT NULL,
  album INTEGER NOT NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  width INTEGER,
  height INTEGER,
  compares INTEGER NOT NULL,
  day INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'used', 'lapsed'))
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_by_end ON credentials (expires_at);
CREATE INDEX open_credentials ON credentials (expires_at, account, size) WHERE state = 'open';

CREATE TABLE quota (
  account INTEGER NOT NULL REFERENCES accounts (id),
  day INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;
`,
  // The type of an older credential is not known, and the credential expires within minutes.
  `ALTER TABLE credentials ADD COLUMN mime TEXT NOT NULL DEFAULT 'application/octet-stream';`,
]
