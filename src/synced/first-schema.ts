/** The database: what albumd and the host last agreed on, and what is under way. It is built for a million files: `files`
 * has no rowid, and most of its indexes hold only files that are not synced.
 * Times are milliseconds since 1970, times of files microseconds. Running time is how many milliseconds albumd has run,
 * over all its starts; a clock that jumps does not change it. Monotonic time is the milliseconds since the machine started.
 * Hashes are SHA-256 of a picture's bytes. A path lies below its mirror's root, with slashes; '' is the root. A reason is a
 * code with its facts (src/words/reasons.ts). What tables and columns mean, the types in tables/*.ts say. */
export const FIRST_SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE mirrors (
  id         INTEGER PRIMARY KEY,
  folder     TEXT NOT NULL UNIQUE,
  album      TEXT NOT NULL,
  -- The identity of the root. Null until the first scan.
  dev        INTEGER,
  ino        INTEGER,
  birthtime  INTEGER,
  -- The reason why nothing is deleted here, and which kind of doubt it is. Null when nothing is wrong.
  guard      TEXT,
  guard_code TEXT,
  -- What the process that has this state open does with the mirror now.
  phase      TEXT CHECK (phase IN ('scanning','syncing')),
  accept     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE folders (
  id           INTEGER PRIMARY KEY,
  mirror       INTEGER NOT NULL REFERENCES mirrors,
  path         TEXT NOT NULL,
  -- 0: the folder is gone or left out. It stays recorded while its files use images.
  present      INTEGER NOT NULL DEFAULT 1,
  -- What the folder's last look showed, as a hash. Null makes the next look report everything.
  digest       TEXT,
  ignore_text  TEXT,
  -- 1: the ignore file was missing at the last look. It counts as gone when a second look in a row does not find it.
  ignore_gone  INTEGER NOT NULL DEFAULT 0,
  -- The reason why the folder is in doubt. A folder in doubt does not count as empty.
  unknown      TEXT,
  files        INTEGER NOT NULL DEFAULT 0,
  left_format  INTEGER NOT NULL DEFAULT 0,
  left_ignored INTEGER NOT NULL DEFAULT 0,
  left_hidden  INTEGER NOT NULL DEFAULT 0,
  left_empty   INTEGER NOT NULL DEFAULT 0,
  left_links   INTEGER NOT NULL DEFAULT 0,
  mount             INTEGER NOT NULL DEFAULT 0,
  mounted_ino       INTEGER,
  mounted_birthtime INTEGER,
  accept            INTEGER NOT NULL DEFAULT 0,
  UNIQUE (mirror, path)
) STRICT;
-- A tree has very many folders, and few of them are in doubt or mounted.
CREATE INDEX folders_unknown ON folders (mirror, path) WHERE unknown IS NOT NULL;
CREATE INDEX folders_mounted ON folders (mirror, path) WHERE mount = 1;

CREATE TABLE albums (
  id         INTEGER PRIMARY KEY,
  -- Null: in the host's root.
  parent     INTEGER REFERENCES albums,
  name       TEXT NOT NULL,
  remote_id  TEXT NOT NULL UNIQUE,
  -- 1: albumd made the album. No other album may ever be deleted.
  ours       INTEGER NOT NULL,
  confirmed  INTEGER NOT NULL DEFAULT 1,
  blind      INTEGER NOT NULL DEFAULT 0,
  made_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX albums_by_name ON albums (coalesce(parent, 0), name);
CREATE INDEX albums_by_parent ON albums (parent);

CREATE TABLE unused_albums (
  album INTEGER PRIMARY KEY REFERENCES albums,
  since INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('empty','occupied','deleting'))
) STRICT;

CREATE TABLE contents (
  -- 0: the host's root.
  album       INTEGER PRIMARY KEY,
  unrecorded INTEGER NOT NULL
) STRICT;

CREATE TABLE images (
  id          INTEGER PRIMARY KEY,
  remote_id   TEXT NOT NULL UNIQUE,
  cdn_url     TEXT,
  -- Null: in the host's root.
  album       INTEGER REFERENCES albums,
  name        TEXT NOT NULL,
  hash        BLOB NOT NULL,
  size        INTEGER NOT NULL,
  mime        TEXT NOT NULL,
  width       INTEGER,
  height      INTEGER,
  recorded_at INTEGER NOT NULL,
  proof       TEXT NOT NULL CHECK (proof IN ('uploaded','compared','none')),
  -- 1: the image is kept for good, also when the host gives its id to equal bytes of another file.
  kept        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX images_by_hash ON images (hash);
CREATE INDEX images_by_album ON images (album);
-- After an adoption, few images are uploaded, or few are linked.
CREATE INDEX images_uploaded ON images (id) WHERE proof = 'uploaded';
CREATE INDEX images_linked ON images (id) WHERE proof = 'none';

CREATE TABLE files (
  folder INTEGER NOT NULL REFERENCES folders,
  name   TEXT NOT NULL,
  -- As the last look saw the file.
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL,
  ctime  INTEGER NOT NULL,
  ino    INTEGER NOT NULL,
  state  TEXT NOT NULL CHECK (state IN ('pending','synced','linked','uncertain','failed','gone','kept','hidden')),
  -- When the file came into this state. Null when synced or linked.
  since  INTEGER,
  -- The image that the file uses. While the file is not synced, it may show an earlier version.
  image  INTEGER REFERENCES images,
  -- SHA-256 of the file as the last look saw it. Null until the file was read.
  hash   BLOB,
  -- 1: the image lies in another album than the folder's album, which could not be had. It may be sent into that album later.
  -- 2: the host refuses the folder's album, so the image stays where it is until something changes.
  flat   INTEGER NOT NULL DEFAULT 0 CHECK (flat IN (0,1,2)),
  PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_open ON files (state, mtime, folder, name) WHERE state <> 'synced';
CREATE INDEX files_by_image ON files (image) WHERE image IS NOT NULL;
-- These files have no proved image, so a picture that was elsewhere before may have moved there.
CREATE INDEX files_open_by_size ON files (size) WHERE state IN ('pending','uncertain','failed','linked');
-- The day's new files must be found among very many files that wait for longer.
CREATE INDEX files_pending_since ON files (since) WHERE state = 'pending';
-- Files that must be compared with their image. Comparing goes on also when uploads must wait.
CREATE INDEX files_to_compare ON files (folder, name) WHERE state = 'pending' AND image IS NOT NULL AND hash IS NULL;

-- Pictures that lie flat are counted, and are sent into their own albums, the newest first.
CREATE INDEX files_flat ON files (flat, mtime, folder, name) WHERE flat > 0 AND state = 'synced';

-- Intents: a row is written before the first byte of a request is sent, and removed when its outcome is recorded.
CREATE TABLE journal (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('upload','create_album','delete_image')),
  since      INTEGER NOT NULL,
  -- Monotonic time when the intent was opened. A credential's life is counted from this time.
  sent_at    INTEGER NOT NULL DEFAULT 0,
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
  remote_id  TEXT,
  -- upload: the album that it goes to. create_album: the parent. Null: the root.
  album      INTEGER REFERENCES albums,
  album_name TEXT,
  -- delete_image
  image      INTEGER REFERENCES images
) STRICT;
CREATE INDEX journal_by_file ON journal (folder, name) WHERE kind = 'upload';
CREATE INDEX journal_by_image ON journal (image) WHERE image IS NOT NULL;

CREATE TABLE escrow (
  image     INTEGER PRIMARY KEY REFERENCES images,
  mirror    INTEGER NOT NULL REFERENCES mirrors,
  path      TEXT NOT NULL,
  reason    TEXT NOT NULL CHECK (reason IN ('deleted','superseded','ignored')),
  -- unproved: the image was only linked, and its bytes could not be compared yet. A person may approve its deletion.
  state     TEXT NOT NULL CHECK (state IN ('grace','held','unproved','approved')),
  since     INTEGER NOT NULL,
  due_at    INTEGER NOT NULL,
  postponed INTEGER NOT NULL DEFAULT 0 CHECK (postponed IN (0,1))
) STRICT;
CREATE INDEX escrow_by_path ON escrow (mirror, path);

-- Images that albumd deleted without a person's approval. The hold counts them within its window.
CREATE TABLE deletions (
  -- Running time.
  at     INTEGER NOT NULL,
  mirror INTEGER NOT NULL REFERENCES mirrors,
  image  INTEGER NOT NULL,
  PRIMARY KEY (at, image)
) STRICT, WITHOUT ROWID;

CREATE TABLE deleted (remote_id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE refuted (
  remote_id TEXT NOT NULL,
  hash      BLOB NOT NULL,
  PRIMARY KEY (remote_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE resend (folder INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (folder, name)) STRICT, WITHOUT ROWID;

CREATE TABLE failures (
  folder          INTEGER NOT NULL REFERENCES folders,
  name            TEXT NOT NULL,
  -- look: found by a scan, and removed by the next scan. upload: stays until the file changes or a try succeeds.
  -- uncertain: no failure, but a person should know of it.
  source          TEXT NOT NULL CHECK (source IN ('look','upload','uncertain')),
  code            TEXT NOT NULL,
  message         TEXT NOT NULL,
  attempts        INTEGER NOT NULL,
  next_attempt_at INTEGER,
  PRIMARY KEY (folder, name, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX failures_by_time ON failures (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

CREATE TABLE blocks (
  endpoint TEXT PRIMARY KEY,
  code     TEXT NOT NULL,
  message  TEXT NOT NULL,
  since    INTEGER NOT NULL,
  said_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE quota (
  day          TEXT PRIMARY KEY,
  used         INTEGER NOT NULL,
  exhausted    INTEGER,
  said_at      INTEGER,
  refused      INTEGER NOT NULL DEFAULT 0,
  resumes_at   INTEGER,
  clock_offset INTEGER
) STRICT, WITHOUT ROWID;

-- Albums (0: the host's root) that the audit under way has done.
CREATE TABLE audit (
  album INTEGER PRIMARY KEY,
  at    INTEGER NOT NULL
) STRICT;

CREATE TABLE audit_findings (
  kind      TEXT NOT NULL CHECK (kind IN ('gone','changed','foreign','twice')),
  remote_id TEXT NOT NULL,
  album     INTEGER NOT NULL,
  name      TEXT NOT NULL,
  detail    TEXT NOT NULL,
  PRIMARY KEY (kind, remote_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
  id     INTEGER PRIMARY KEY,
  mirror INTEGER NOT NULL REFERENCES mirrors,
  path   TEXT NOT NULL,
  at     INTEGER NOT NULL,
  event  TEXT NOT NULL,
  detail TEXT,
  since  INTEGER
) STRICT;
CREATE INDEX history_by_path ON history (mirror, path);
`
