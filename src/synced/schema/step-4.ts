/** What needs no upload does not wait for one. */
export const STEP_4 = `
CREATE INDEX files_to_compare ON files (folder, name) WHERE state = 'pending' AND image IS NOT NULL AND hash IS NULL;
`
