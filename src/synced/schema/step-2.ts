/** What recovery, adoption, guards and audits need to know. */
export const STEP_2 = `
-- proof: albumd uploaded it and was told so, or its bytes were fetched and compared, or neither: a linked image.
CREATE TABLE images_2 (
  id          INTEGER PRIMARY KEY,
  remote_id   TEXT NOT NULL UNIQUE,
  -- Null: not known yet.
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
  proof       TEXT NOT NULL CHECK (proof IN ('uploaded','compared','none'))
) STRICT;
INSERT INTO images_2 SELECT *, 'uploaded' FROM images;
DROP TABLE images;
ALTER TABLE images_2 RENAME TO images;
CREATE INDEX images_by_hash ON images (hash);
CREATE INDEX images_by_album ON images (album);
-- After an adoption few are the one or the other.
CREATE INDEX images_uploaded ON images (id) WHERE proof = 'uploaded';
CREATE INDEX images_linked ON images (id) WHERE proof = 'none';

CREATE TABLE escrow_2 (
  image  INTEGER PRIMARY KEY REFERENCES images,
  mirror INTEGER NOT NULL REFERENCES mirrors,
  -- Where the picture was, below the mirror's root.
  path   TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('deleted','superseded','ignored')),
  -- unproved: it was only linked, and its bytes could not be compared yet. A person may let it go as well.
  state  TEXT NOT NULL CHECK (state IN ('grace','held','unproved','approved')),
  since  INTEGER NOT NULL,
  -- Not before this moment of running time: the grace in which it may come back.
  due_at INTEGER NOT NULL
) STRICT;
INSERT INTO escrow_2 SELECT * FROM escrow;
DROP TABLE escrow;
ALTER TABLE escrow_2 RENAME TO escrow;
CREATE INDEX escrow_by_path ON escrow (mirror, path);

-- A linked file has yet to prove that its image is it: what was elsewhere before may have moved there.
DROP INDEX files_open_by_size;
CREATE INDEX files_open_by_size ON files (size) WHERE state IN ('pending','uncertain','failed','linked');

-- Monotonic milliseconds of this boot, when the intent was opened: a credential's life is measured from there.
ALTER TABLE journal ADD COLUMN sent_at INTEGER NOT NULL DEFAULT 0;
-- The image's id, where step 1 told it (§4.3).
ALTER TABLE journal ADD COLUMN remote_id TEXT;
-- Complete walks after the credential's end that did not show what was intended.
ALTER TABLE journal ADD COLUMN walks INTEGER NOT NULL DEFAULT 0;

CREATE INDEX albums_by_parent ON albums (parent);
CREATE INDEX failures_by_time ON failures (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
-- Monotonic milliseconds of this boot, when albumd made it; null once the host has used it. It may be late to know it.
ALTER TABLE albums ADD COLUMN made_at INTEGER;

-- 1: its device was another than its parent's.
ALTER TABLE folders ADD COLUMN mount INTEGER NOT NULL DEFAULT 0;
-- What is mounted there is known by its root's inode and birth time.
ALTER TABLE folders ADD COLUMN mounted_ino INTEGER;
ALTER TABLE folders ADD COLUMN mounted_birthtime INTEGER;
-- 1: a person said that the next look is the truth.
ALTER TABLE folders ADD COLUMN accept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE mirrors ADD COLUMN accept INTEGER NOT NULL DEFAULT 0;
-- A tree has very many folders, and few that are in doubt or mounted.
CREATE INDEX folders_unknown ON folders (mirror, path) WHERE unknown IS NOT NULL;
CREATE INDEX folders_mounted ON folders (mirror, path) WHERE mount = 1;

-- Albums (0: the host's root) that were walked whole, or made by albumd. One without a row is walked before the first
-- upload into it.
CREATE TABLE contents (
  album       INTEGER PRIMARY KEY,
  -- So many of its images are not ours.
  unaccounted INTEGER NOT NULL
) STRICT;

-- What albumd deleted: a host may list it for a while.
CREATE TABLE deleted (
  remote_id TEXT PRIMARY KEY,
  at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Images of others, each with the bytes that it was compared with and does not have.
CREATE TABLE refuted (
  remote_id TEXT NOT NULL,
  hash      BLOB NOT NULL,
  PRIMARY KEY (remote_id, hash)
) STRICT, WITHOUT ROWID;

-- Files whose upload is in doubt and that a person wants sent again all the same.
CREATE TABLE resend (
  folder INTEGER NOT NULL,
  name   TEXT NOT NULL,
  PRIMARY KEY (folder, name)
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

-- Albums of ours that nothing needs: since when (monotonic milliseconds of this boot) a walk shows them so.
CREATE TABLE emptied (
  album INTEGER PRIMARY KEY REFERENCES albums,
  since INTEGER NOT NULL,
  -- 'deleting': the deletion may have been done.
  state TEXT NOT NULL CHECK (state IN ('empty','occupied','deleting'))
) STRICT;
`
