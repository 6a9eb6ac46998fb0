/** What a backup had. */
export const STEP_5 = `
-- 1: a picture of a backup stood on it. It stays for good, though the host may give it to equal bytes elsewhere.
ALTER TABLE images ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
`
