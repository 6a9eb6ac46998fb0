import { inspect } from 'node:util'

/** Runs all of them, so many at a time. Throws once all are done where some failed, each with its name and reason. */
export async function inParallel<T>(
  most: number,
  cells: readonly T[],
  run: (cell: T) => Promise<void>,
): Promise<void> {
  const failed: string[] = []
  const waiting = cells.values()
  const work = async () => {
    for (const cell of waiting) {
      try {
        await run(cell)
      } catch (error) {
        failed.push(`${inLine(cell)}: ${reasonOf(error)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: most }, work))
  if (failed.length > 0) throw new Error(`${failed.length} of ${cells.length} failed\n${failed.join('\n')}`)
}

/** With both sides of a comparison that failed: only the first line of such an error says which. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { actual, expected } = error as { actual?: unknown; expected?: unknown }
  const sides = expected === undefined ? '' : `\n  expected ${inLine(expected)}\n  found    ${inLine(actual)}`
  return error.message + sides
}

function inLine(value: unknown): string {
  return typeof value === 'string'
    ? value
    : inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 })
}
