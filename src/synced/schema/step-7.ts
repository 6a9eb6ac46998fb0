/** Walks that do not show an upload count only in a row: no record is kept of one. */
export const STEP_7 = `
ALTER TABLE journal DROP COLUMN walks;
`
