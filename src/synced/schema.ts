import { FIRST_SCHEMA } from './first-schema.ts'

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

/** The conditions on each row of `files` are comparisons. For a list of more than two values, SQLite looks the value up in a
 * table that it makes for the list, which took a third of the time in which a first scan writes its rows. */
const COMPARISONS = `
CREATE TABLE compared (
  folder INTEGER NOT NULL REFERENCES folders,
  name   TEXT NOT NULL,
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL,
  ctime  INTEGER NOT NULL,
  ino    INTEGER NOT NULL,
  state  TEXT NOT NULL CHECK (state = 'pending' OR state = 'synced' OR state = 'linked' OR state = 'uncertain'
    OR state = 'failed' OR state = 'gone' OR state = 'kept' OR state = 'hidden'),
  since  INTEGER,
  image  INTEGER REFERENCES images,
  hash   BLOB,
  flat   INTEGER NOT NULL DEFAULT 0 CHECK (flat = 0 OR flat = 1),
  PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
INSERT INTO compared SELECT * FROM files;
DROP TABLE files;
ALTER TABLE compared RENAME TO files;
CREATE INDEX files_open ON files (state, mtime, folder, name) WHERE state <> 'synced';
CREATE INDEX files_by_image ON files (image) WHERE image IS NOT NULL;
CREATE INDEX files_open_by_size ON files (size)
  WHERE state = 'pending' OR state = 'uncertain' OR state = 'failed' OR state = 'linked';
CREATE INDEX files_pending_since ON files (since) WHERE state = 'pending';
CREATE INDEX files_to_compare ON files (folder, name) WHERE state = 'pending' AND image IS NOT NULL AND hash IS NULL;
CREATE INDEX files_flat ON files (folder, name) WHERE flat > 0 AND state = 'synced';
`

/** Each step turns the previous version of the schema into the next version. To change the schema, add a step. */
export const STEPS = [
  FIRST_SCHEMA,
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
  COMPARISONS,
  // How often the host has refused a picture tells how long it waits. Other failed tries do not count.
  'ALTER TABLE failures ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;',
  // What is sent of a picture may be other bytes than its file's. An upload in doubt knows both.
  `ALTER TABLE images ADD COLUMN how TEXT;
   ALTER TABLE journal ADD COLUMN how TEXT;
   ALTER TABLE journal ADD COLUMN file_hash BLOB;
   ALTER TABLE journal ADD COLUMN file_size INTEGER;
   UPDATE journal SET file_hash = hash, file_size = size WHERE kind = 'upload';`,
]
