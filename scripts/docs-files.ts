/** Writes the pages of docs/reference that come from the code. With --check it writes nothing, and fails where one differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { referencePages } from './docs/pages.ts'

for (const [name, text] of Object.entries(await referencePages())) {
  const file = new URL(`../docs/reference/${name}`, import.meta.url)
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`docs/reference/${name} is not as the code is; write it with "npm run docs"\n`)
    process.exitCode = 1
  }
}
