/**
 * The embedded host's data. An account's root (§1.2) is an album too, of depth 0, without a parent and with an id that
 * nobody is told. `seq` is the order of creation, which listings go by. Times are milliseconds since 1970, sizes bytes.
 *
 * Each step makes its version of the data out of the one before. Whatever changes is a further step: those that are
 * there have been taken already.
 */
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
  // The declared type. What was issued without one runs out within minutes.
  `ALTER TABLE credentials ADD COLUMN mime TEXT NOT NULL DEFAULT 'application/octet-stream';`,
]
