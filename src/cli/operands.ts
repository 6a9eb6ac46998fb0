/** What no argument of a process can hold. */
const MARK = '\0'

/**
 * What stands after `--` is no option, whatever it looks like. yargs leaves it out where a command can do without:
 * "deletions approve -- -x.png" would approve everything. So the dashes go, and each operand is marked.
 */
export function markOperands(args: readonly string[]): string[] {
  const dashes = args.indexOf('--')
  if (dashes === -1) return [...args]
  return [...args.slice(0, dashes), ...args.slice(dashes + 1).map(operand => MARK + operand)]
}

/** Takes the marks off again, before anything looks at the parsed values. */
export function unmarkOperands(parsed: Record<string, unknown>): void {
  const unmark = (value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
  for (const [name, value] of Object.entries(parsed))
    parsed[name] = Array.isArray(value) ? value.map(unmark) : unmark(value)
}
