/** What a daemon of months needs to know. */
export const STEP_3 = `
-- A quota day is known by its beginning, in ISO 8601. \`used\`: credentials that the host issued. \`exhausted\`: when it
-- first said that the day's are used up, \`said_at\`: when it last did; \`refused\`: how often somebody was told so.
-- \`resumes_at\`: the end that it told.
ALTER TABLE quota ADD COLUMN said_at INTEGER;
ALTER TABLE quota ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
-- Between the wall clock and the monotonic one when it last said so: where it differs later, nothing can be measured.
ALTER TABLE quota ADD COLUMN clock_offset INTEGER;
-- The day's new files are found among very many that wait for longer.
CREATE INDEX files_pending_since ON files (since) WHERE state = 'pending';

-- What became of each path, for people who ask: in the order of its ids. It is pruned, and nothing else reads it.
CREATE TABLE history (
  id     INTEGER PRIMARY KEY,
  mirror INTEGER NOT NULL REFERENCES mirrors,
  path   TEXT NOT NULL,
  at     INTEGER NOT NULL,
  event  TEXT NOT NULL,
  -- In people's words.
  detail TEXT,
  -- When the picture was found that this became of.
  since  INTEGER
) STRICT;
CREATE INDEX history_by_path ON history (mirror, path);
`
