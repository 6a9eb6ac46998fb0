/** What both sides agreed on: files, folders, albums, images, and what is on its way. */
export const STEP_1 = `
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mirrors (
  id         INTEGER PRIMARY KEY,
  folder     TEXT NOT NULL UNIQUE,
  album      TEXT NOT NULL,
  -- The root is known by these three; null until it was first looked at.
  dev        INTEGER,
  ino        INTEGER,
  birthtime  INTEGER,
  -- Why nothing is deleted here; null where nothing is wrong. The code says which kind of doubt it is.
  guard      TEXT,
  guard_code TEXT,
  -- What the process that has this state open does with it now.
  phase      TEXT CHECK (phase IN ('scanning','syncing'))
) STRICT;

CREATE TABLE folders (
  id           INTEGER PRIMARY KEY,
  mirror       INTEGER NOT NULL REFERENCES mirrors,
  path         TEXT NOT NULL,
  -- 0: no longer on the disk, kept for the sake of files whose images are not yet settled.
  present      INTEGER NOT NULL DEFAULT 1,
  -- Of the last look; null makes the next look come back whole.
  digest       TEXT,
  ignore_text  TEXT,
  -- 1: the ignore file was not there at the last look. Only a second look in a row is believed.
  ignore_gone  INTEGER NOT NULL DEFAULT 0,
  -- Why the folder can't be read: it is unknown, not empty.
  unknown      TEXT,
  files        INTEGER NOT NULL DEFAULT 0,
  left_format  INTEGER NOT NULL DEFAULT 0,
  left_ignored INTEGER NOT NULL DEFAULT 0,
  left_hidden  INTEGER NOT NULL DEFAULT 0,
  left_empty   INTEGER NOT NULL DEFAULT 0,
  left_links   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (mirror, path)
) STRICT;

CREATE TABLE albums (
  id         INTEGER PRIMARY KEY,
  -- Null: in the host's root.
  parent     INTEGER REFERENCES albums,
  name       TEXT NOT NULL,
  remote_id  TEXT NOT NULL UNIQUE,
  -- 1 where albumd made it: no other album may ever be deleted.
  ours       INTEGER NOT NULL,
  -- 0: the host did not know its id the last time; it is looked for again.
  confirmed  INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX albums_by_name ON albums (coalesce(parent, 0), name);

CREATE TABLE images (
  id          INTEGER PRIMARY KEY,
  remote_id   TEXT NOT NULL UNIQUE,
  cdn_url     TEXT NOT NULL,
  -- Null: in the host's root.
  album       INTEGER REFERENCES albums,
  name        TEXT NOT NULL,
  hash        BLOB NOT NULL,
  size        INTEGER NOT NULL,
  mime        TEXT NOT NULL,
  width       INTEGER,
  height      INTEGER,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX images_by_hash ON images (hash);

CREATE TABLE files (
  folder INTEGER NOT NULL REFERENCES folders,
  name   TEXT NOT NULL,
  -- The last look at it.
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL,
  ctime  INTEGER NOT NULL,
  ino    INTEGER NOT NULL,
  state  TEXT NOT NULL CHECK (state IN ('pending','synced','linked','uncertain','failed','gone','kept','hidden')),
  -- When it came into this state; null once synced.
  since  INTEGER,
  -- The image that stands for this path: while the file is not synced, of an earlier version.
  image  INTEGER REFERENCES images,
  -- Of the file as last looked at; null until it was read.
  hash   BLOB,
  PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_open ON files (state, mtime, folder, name) WHERE state <> 'synced';
CREATE INDEX files_open_by_size ON files (size) WHERE state IN ('pending','uncertain','failed');
CREATE INDEX files_by_image ON files (image) WHERE image IS NOT NULL;

-- What was about to change the host. A row stands from before the first byte until the outcome is recorded.
CREATE TABLE journal (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('upload','create_album','delete_image')),
  since      INTEGER NOT NULL,
  -- upload: the file as it was hashed, and where its bytes will be delivered.
  folder     INTEGER,
  name       TEXT,
  size       INTEGER,
  mtime      INTEGER,
  hash       BLOB,
  mime       TEXT,
  width      INTEGER,
  height     INTEGER,
  cdn_url    TEXT,
  -- upload: the album it goes to; create_album: the parent. Null: the root.
  album      INTEGER REFERENCES albums,
  album_name TEXT,
  -- delete_image
  image      INTEGER REFERENCES images
) STRICT;
CREATE INDEX journal_by_file ON journal (folder, name) WHERE kind = 'upload';
CREATE INDEX journal_by_image ON journal (image) WHERE image IS NOT NULL;

-- Images that are to be given up: each stays until nothing stands on it and no doubt is left.
CREATE TABLE escrow (
  image  INTEGER PRIMARY KEY REFERENCES images,
  mirror INTEGER NOT NULL REFERENCES mirrors,
  -- Where the picture was, below the mirror's root.
  path   TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('deleted','superseded')),
  state  TEXT NOT NULL CHECK (state IN ('grace','held','approved')),
  since  INTEGER NOT NULL,
  -- Not before this moment of running time: the grace in which it may come back.
  due_at INTEGER NOT NULL
) STRICT;

-- What was given up without having been asked about, for the rolling window that the hold weighs.
CREATE TABLE given_up (
  -- Running time.
  at     INTEGER NOT NULL,
  mirror INTEGER NOT NULL REFERENCES mirrors,
  image  INTEGER NOT NULL,
  PRIMARY KEY (at, image)
) STRICT, WITHOUT ROWID;

-- What went wrong with one path, in people's words. \`name\` is '' for a folder itself.
CREATE TABLE failures (
  folder          INTEGER NOT NULL REFERENCES folders,
  name            TEXT NOT NULL,
  -- 'look': found by the scan and gone with it. 'upload': stays until the file changes or a try succeeds.
  -- 'uncertain': no failure, but a person should know of it.
  source          TEXT NOT NULL CHECK (source IN ('look','upload','uncertain')),
  code            TEXT NOT NULL,
  message         TEXT NOT NULL,
  attempts        INTEGER NOT NULL,
  -- Null: not before the file changes.
  next_attempt_at INTEGER,
  PRIMARY KEY (folder, name, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
  endpoint TEXT PRIMARY KEY,
  code     TEXT NOT NULL,
  message  TEXT NOT NULL,
  since    INTEGER NOT NULL,
  -- When the host said so the last time.
  said_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE quota (
  day        TEXT PRIMARY KEY,
  used       INTEGER NOT NULL,
  -- The host said so, at this time.
  exhausted  INTEGER,
  resumes_at INTEGER
) STRICT, WITHOUT ROWID;
`
