/** Albums that were made where nobody could look. */
export const STEP_6 = `
-- 1: the plan did not list albums, and older records than these may know another of its name.
ALTER TABLE albums ADD COLUMN blind INTEGER NOT NULL DEFAULT 0;
`
