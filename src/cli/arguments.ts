import { EXIT } from './exit-codes.ts'
import { Problem } from './words/problem.ts'

/** A character that no argument of a process can contain. */
const MARK = '\0'

/**
 * Words after `--` are operands, whatever they look like. yargs drops them when a command's operand is optional, so
 * "deletions approve -- -x.png" would approve everything. Therefore the dashes are removed here, and each operand is marked.
 */
export function markOperands(args: readonly string[]): string[] {
  const dashes = args.indexOf('--')
  if (dashes === -1) return [...args]
  return [...args.slice(0, dashes), ...args.slice(dashes + 1).map(operand => MARK + operand)]
}

/** Removes the marks from the parsed values. */
export function unmarkOperands(parsed: Record<string, unknown>): void {
  const unmark = (value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
  for (const [name, value] of Object.entries(parsed))
    parsed[name] = Array.isArray(value) ? value.map(unmark) : unmark(value)
}

/** The options that may be given several times. */
const LISTS: ReadonlySet<string> = new Set(['folder', 'album', 'api-key'])

/**
 * Refuses what yargs accepts and nobody means: an option that is given twice, which becomes a list, and a switch with a value,
 * which counts as off. An example: "--dry-run=yes" would be a real sync. `parsed`: what yargs made of `words`.
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
