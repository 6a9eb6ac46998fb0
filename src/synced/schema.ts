/** The database: what albumd and the host last agreed on, and what is under way. It is built for a million files: `files`
 * has no rowid, and most of its indexes hold only files that are not synced.
 * Times are milliseconds since 1970, times of files microseconds. Running time is how many milliseconds albumd has run,
 * over all its starts; a clock that jumps does not change it. Monotonic time is the milliseconds since the machine started.
 * Hashes are SHA-256 of a picture's bytes. A path lies below its mirror's root, with slashes; '' is the root. A reason is a
 * code with its facts (src/words/reasons.ts). What tables and columns mean, the types in tables/*.ts say. */
const SCHEMA = `
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

/** `closed_at`: when the host refused to create an album in this one. `remade`: 1: created in place of another album. */
const ALBUM_DOUBTS = `
ALTER TABLE albums ADD COLUMN closed_at INTEGER;
ALTER TABLE albums ADD COLUMN remade INTEGER NOT NULL DEFAULT 0;
`

/** Failures that a person accepted. They count as no trouble until the file has other bytes, or fails with another code. */
const ACCEPTED_FAILURES = `
CREATE TABLE accepted (
  folder INTEGER NOT NULL REFERENCES folders,
  name   TEXT NOT NULL,
  code   TEXT NOT NULL,
  -- The bytes of the file that failed. Null when the file could not be read.
  hash   BLOB,
  at     INTEGER NOT NULL,
  PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
`

/** The past versions of pictures, for `albumd restore --at`. A database of an earlier albumd knows of the past only what
 * waits for its deletion, so `versions_since` says that nothing else is known. */
const VERSIONS = `
-- The modification time of the file that was sent. Null: not known.
ALTER TABLE images ADD COLUMN mtime INTEGER;
CREATE TABLE versions (
  id       INTEGER PRIMARY KEY,
  mirror   INTEGER NOT NULL REFERENCES mirrors,
  path     TEXT NOT NULL,
  since    INTEGER NOT NULL,
  until    INTEGER NOT NULL,
  hash     BLOB,
  size     INTEGER,
  mtime    INTEGER,
  given_up INTEGER NOT NULL DEFAULT 0 CHECK (given_up IN (0,1))
) STRICT;
CREATE INDEX versions_by_path ON versions (mirror, path, until);
CREATE INDEX versions_by_hash ON versions (hash) WHERE hash IS NOT NULL;
CREATE INDEX versions_given_up ON versions (mirror, until) WHERE given_up = 1;
INSERT INTO versions (mirror, path, since, until, hash, size, mtime)
  SELECT escrow.mirror, escrow.path, images.recorded_at, escrow.since, images.hash, images.size, max(files.mtime)
  FROM escrow JOIN images ON images.id = escrow.image
    LEFT JOIN files ON files.image = escrow.image AND files.state = 'gone'
  GROUP BY escrow.image ORDER BY escrow.since;
INSERT INTO meta (key, value)
  SELECT 'versions_since', CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE EXISTS (SELECT 1 FROM images);
`

/** How many of an album's unrecorded images no picture here accounts for. */
const OTHERS_IMAGES = `
ALTER TABLE contents ADD COLUMN others INTEGER NOT NULL DEFAULT 0;
DELETE FROM meta WHERE key = 'others';
`

/** Few images stay for good, and the bytes of a new picture may be those of one of them. So they have an index of their own. */
const KEPT_IMAGES = 'CREATE INDEX images_kept ON images (size) WHERE kept = 1;'

/** Deletes what earlier versions learned of the host: how pictures are declared, and between which times its days begin. */
const LEARNED_READINGS = `
DELETE FROM meta WHERE key IN ('dimensions', 'declared_type', 'quota_reset');
ALTER TABLE quota DROP COLUMN refused;
ALTER TABLE quota DROP COLUMN clock_offset;
`

/** The identity of every folder is recorded, not that of mounts alone. The next scan finds it. */
const FOLDER_IDENTITY = `
ALTER TABLE folders RENAME COLUMN mounted_ino TO ino;
ALTER TABLE folders RENAME COLUMN mounted_birthtime TO birthtime;
-- What was in doubt as an older copy stays another folder: no folder was born in this microsecond of 1970.
UPDATE folders SET birthtime = 1 WHERE unknown LIKE '["folder_older%';
UPDATE folders SET digest = NULL;
`

/** Decisions, recorded by whoever makes them: what a picture waits for, why an image in escrow stays, what will be held. */
const WAITS = `
CREATE TABLE waits (
  folder INTEGER NOT NULL,
  name   TEXT NOT NULL,
  why    TEXT NOT NULL,
  until  INTEGER,
  at     INTEGER NOT NULL,
  PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
ALTER TABLE escrow ADD COLUMN why TEXT;
ALTER TABLE escrow ADD COLUMN why_at INTEGER;
ALTER TABLE mirrors ADD COLUMN will_hold INTEGER NOT NULL DEFAULT 0 CHECK (will_hold IN (0,1));
DELETE FROM meta WHERE key = 'unfinished';
`

/** An audit names the images that no picture accounts for, so they are not counted. No album is deleted with what is in it. */
const NO_OTHERS_IMAGES = `
ALTER TABLE contents DROP COLUMN others;
DELETE FROM meta WHERE key IN ('new_state', 'deleted_more');
`

/** An album is created only after proof that there is none. What the host refused is known for one pass only. */
const ALBUMS_BY_PROOF = `
ALTER TABLE albums DROP COLUMN blind;
ALTER TABLE albums DROP COLUMN closed_at;
ALTER TABLE albums DROP COLUMN remade;
DROP INDEX files_flat;
CREATE INDEX files_flat ON files (folder, name) WHERE flat > 0 AND state = 'synced';
`

/** When many deletions come together: until when by the wall clock they wait, whether they are news, and which were edits. */
const MANY_WAIT = `
ALTER TABLE escrow ADD COLUMN many_until INTEGER;
ALTER TABLE deletions ADD COLUMN edited INTEGER NOT NULL DEFAULT 0 CHECK (edited IN (0,1));
UPDATE mirrors SET will_hold = 0;
ALTER TABLE mirrors RENAME COLUMN will_hold TO many_news;
`

/** Each step turns the previous version of the schema into the next version. To change the schema, add a step. */
export const STEPS = [
  SCHEMA,
  ALBUM_DOUBTS,
  ACCEPTED_FAILURES,
  VERSIONS,
  OTHERS_IMAGES,
  // Few pictures ever lose their image, so an index finds those without reading the whole history.
  "CREATE INDEX history_lost ON history (mirror, path) WHERE event = 'lost';",
  KEPT_IMAGES,
  // Accepted failures are gone: an ignore rule does the same.
  'DROP TABLE accepted;',
  // Two kinds of flat have become one: a picture stays flat until it changes.
  'UPDATE files SET flat = 1 WHERE flat = 2;',
  LEARNED_READINGS,
  FOLDER_IDENTITY,
  WAITS,
  // The form in which refused pictures are remembered has changed. Whether a host is silent is not remembered any more.
  "DELETE FROM meta WHERE key IN ('suspects', 'host_silent');",
  NO_OTHERS_IMAGES,
  ALBUMS_BY_PROOF,
  MANY_WAIT,
  // Pictures that were called incomplete are judged anew, by a walk through their parts.
  `UPDATE files SET state = 'pending' WHERE state = 'failed' AND (folder, name) IN
     (SELECT folder, name FROM failures WHERE code = 'PICTURE_INCOMPLETE');`,
  // Where the host does not deliver what was sent, the image data tell whether two files are the same picture.
  'ALTER TABLE images ADD COLUMN data TEXT; ALTER TABLE images ADD COLUMN listed TEXT;',
  // What a restore has written where the host delivers other bytes than it was sent: these bytes count as the image's picture.
  `CREATE TABLE delivered (image INTEGER NOT NULL REFERENCES images ON DELETE CASCADE, hash BLOB NOT NULL,
     size INTEGER NOT NULL, how TEXT NOT NULL, turned INTEGER NOT NULL, PRIMARY KEY (hash, image)) STRICT, WITHOUT ROWID;
   CREATE INDEX delivered_of_image ON delivered (image, size);`,
]
