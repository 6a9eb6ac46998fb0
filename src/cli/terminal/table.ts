import stringWidth from 'string-width'

export interface Column {
  title: string
  least: number
  /** The part that is cut from a cell that is too wide. */
  cut: 'middle' | 'end'
  /** Whether the column is left out when the terminal is too narrow for the least widths of all columns. */
  spare?: true
}

export interface TableOptions {
  /** The width of the terminal; null when nothing is cut. */
  width: number | null
  /** Colours a title or a cell. `at`: the number of the column. `row`: null for the titles. */
  paint?: (shown: string, at: number, row: readonly string[] | null) => string
}

/** How many rows decide the widths of the columns. A later cell may be cut, or be wider than its column. */
const LOOKED_AT = 500
const GAP = 2

/** The lines of a table. Memory does not grow with the number of rows. Without rows there are no lines. */
export function* tableLines(
  columns: readonly Column[],
  rows: Iterable<readonly string[]>,
  { width, paint = shown => shown }: TableOptions,
): Generator<string> {
  const first: (readonly string[])[] = []
  let widths: ReadonlyMap<number, number> | null = null
  const line = (cells: readonly string[], row: readonly string[] | null) => {
    let begun = ''
    for (const [at, wide] of widths!) {
      const text = width === null ? cells[at]! : fitted(cells[at]!, wide, columns[at]!.cut)
      begun += `${paint(text, at, row)}${' '.repeat(Math.max(0, wide - stringWidth(text)) + GAP)}`
    }
    return `${begun.trimEnd()}\n`
  }
  const titles = columns.map(({ title }) => title)
  function* begun() {
    widths = widthsOf(columns, [titles, ...first], width)
    yield line(titles, null)
    for (const row of first) yield line(row, row)
  }
  for (const row of rows) {
    if (widths) yield line(row, row)
    else if (first.push(row) === LOOKED_AT) yield* begun()
  }
  if (!widths && first.length > 0) yield* begun()
}

/** The width of each column that is shown. When the columns need more than the terminal has, the widest column is narrowed
 * first. When the least widths are too wide, spare columns are left out, the last spare column first. */
function widthsOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null,
): Map<number, number> {
  const widths = new Map(
    columns.map((_, at) => [at, rows.reduce((most, row) => Math.max(most, stringWidth(row[at]!)), 0)]),
  )
  if (width === null) return widths
  const least = (at: number) => Math.min(widths.get(at)!, columns[at]!.least)
  const over = (wide: (at: number) => number) =>
    sum([...widths.keys()].map(wide)) + GAP * (widths.size - 1) - width
  while (over(least) > 0) {
    const spare = [...widths.keys()].findLast(at => columns[at]!.spare)
    if (spare === undefined) break
    widths.delete(spare)
  }
  for (let more = over(at => widths.get(at)!); more > 0; more--) {
    const giving = [...widths].filter(([at, wide]) => wide > columns[at]!.least)
    if (giving.length === 0) break
    const [widest, wide] = giving.reduce((one, other) => (other[1] > one[1] ? other : one))
    widths.set(widest, wide - 1)
  }
  return widths
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}

const CUT = '…'
const letters = new Intl.Segmenter()

/** Cuts a cell between the characters that a person sees. */
function fitted(text: string, width: number, cut: Column['cut']): string {
  if (stringWidth(text) <= width) return text
  const parts = [...letters.segment(text)].map(({ segment }) => segment)
  const behind = cut === 'middle' ? Math.floor((width - 1) / 2) : 0
  const end = taken(parts.toReversed(), behind).reverse()
  return [...taken(parts, width - 1 - stringWidth(end.join(''))), CUT, ...end].join('')
}

function taken(parts: readonly string[], width: number): string[] {
  let wide = 0
  const end = parts.findIndex(part => {
    wide += stringWidth(part)
    return wide > width
  })
  return parts.slice(0, end === -1 ? parts.length : end)
}
