import stringWidth from 'string-width'

/** Colours a title or a cell. `at`: the number of the column. `row`: null for the titles. */
type Paint = (shown: string, at: number, row: readonly string[] | null) => string

/** How many rows decide the widths of the columns. A later cell may be wider than its column. */
const LOOKED_AT = 500
/** One name alone may be very long, and is no reason to spread all rows. */
const PADDED = 80

/** The lines of a table. Nothing is cut, so that ids and addresses can be copied. No rows: no lines. Wider than `width`: no
 * titles, and each cell from the column `tail` on has a line of its own. */
export function* tableLines(
  titles: readonly string[],
  rows: Iterable<readonly string[]>,
  paint: Paint = shown => shown,
  { width = Number.POSITIVE_INFINITY, tail = titles.length } = {},
): Generator<string> {
  const first: (readonly string[])[] = []
  let widths: number[] | null = null
  let isWide = true
  const line = (cells: readonly string[], row: readonly string[] | null) => {
    if (!isWide) return row === null ? '' : stacked(cells, row)
    const padded = cells.map((text, at) => {
      return `${paint(text, at, row)}${' '.repeat(Math.max(0, Math.min(PADDED, widths![at]!) - stringWidth(text)))}`
    })
    return `${padded.join('  ').trimEnd()}\n`
  }
  const stacked = (cells: readonly string[], row: readonly string[]) => {
    const painted = cells.map((text, at) => paint(text, at, row))
    return [painted.slice(0, tail).join('  '), ...painted.slice(tail).map(text => `  ${text}`), ''].join('\n')
  }
  function* begun() {
    const all = [titles, ...first]
    widths = titles.map((_, at) => all.reduce((most, row) => Math.max(most, stringWidth(row[at]!)), 0))
    isWide = widths.reduce((sum, each) => sum + 2 + each, -2) <= width
    yield line(titles, null)
    for (const row of first) yield line(row, row)
  }
  for (const row of rows) {
    if (widths) yield line(row, row)
    else if (first.push(row) === LOOKED_AT) yield* begun()
  }
  if (!widths && first.length > 0) yield* begun()
}
