import { readFileSync } from 'node:fs'

/** What the templates run. */
const PLACEHOLDER = 'ExecStart=/usr/bin/albumd '

/** The unit from a template, for the albumd that is run by these words. Throws where the template has no place for them. */
export function unitText(template: string, program: readonly string[]): string {
  const text = readFileSync(template, 'utf8')
  if (!text.includes(PLACEHOLDER)) throw new Error(`${template} does not run /usr/bin/albumd`)
  return text.replace(PLACEHOLDER, () => `ExecStart=${program.map(quoted).join(' ')} `)
}

/** A word of a command line as systemd reads it: % begins a specifier, $ a variable. */
function quoted(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`
}
