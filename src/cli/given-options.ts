import { EXIT } from './exit-codes.ts'
import { Problem } from './words/problem.ts'

/** Options that may be given several times. */
const LISTS: ReadonlySet<string> = new Set(['folder', 'album', 'api-key'])

/**
 * Refuses what yargs lets pass and nobody means: an option twice, of which it makes a list, and a switch with a value,
 * which it takes for off. "--dry-run=yes" would be a sync in earnest. `parsed`: what yargs made of `words`.
 */
export function refuseMisgiven(words: readonly string[], parsed: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(parsed))
    if (Array.isArray(value) && /^[a-z][a-z-]+$/.test(name) && !LISTS.has(name))
      throw new Problem(EXIT.usage, `--${name} is given more than once; say it once.`)
  for (const word of words) {
    const [, name = '', value = ''] = /^--([a-z-]+)=(.*)$/s.exec(word) ?? []
    if (typeof parsed[name] === 'boolean' && !['true', 'false'].includes(value))
      throw new Problem(EXIT.usage, `--${name}=${value}: it takes no value; say --${name}.`)
  }
}
