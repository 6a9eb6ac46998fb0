/** Writes what comes from the code: pages of docs/reference, and the manuals. With --check it writes nothing, and fails where
 * one differs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { writtenFiles } from './docs/written-files.ts'

for (const [path, text] of Object.entries(await writtenFiles())) {
  const file = new URL(`../${path}`, import.meta.url)
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${path} is not as the code is; write it with "npm run docs"\n`)
    process.exitCode = 1
  }
}
