/** Writes the pages of docs/reference that come from the code. */
import { writeFileSync } from 'node:fs'
import { referencePages } from './docs/pages.ts'

for (const [name, text] of Object.entries(await referencePages()))
  writeFileSync(new URL(`../docs/reference/${name}`, import.meta.url), text)
