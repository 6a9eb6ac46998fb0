/** Albums that were made where nobody could look, and what was kept before step 5 could say so. */
export const STEP_6 = `
-- 1: the plan did not list albums, and older records than these may know another of its name.
ALTER TABLE albums ADD COLUMN blind INTEGER NOT NULL DEFAULT 0;
-- What nothing stands on and nobody gives up was kept: by a backup, or by a person who discarded its deletion.
UPDATE images SET kept = 1
WHERE id NOT IN (SELECT image FROM files WHERE image IS NOT NULL)
  AND id NOT IN (SELECT image FROM escrow)
  AND id NOT IN (SELECT image FROM journal WHERE image IS NOT NULL);
`
