/** A deletion that the host refused is told from one in its grace: a person's word has it tried again, and cuts no grace. */
export const STEP_8 = `
ALTER TABLE escrow ADD COLUMN postponed INTEGER NOT NULL DEFAULT 0 CHECK (postponed IN (0,1));
`
