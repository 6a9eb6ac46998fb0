import stringWidth from 'string-width'

export interface Column {
  title: string
  /** In columns of a terminal: it is not made narrower than this to fit. */
  least: number
  /** What is cut away of a cell that does not fit. */
  cut: 'middle' | 'end'
}

export interface TableOptions {
  /** Of the terminal; null where nothing is cut. */
  width: number | null
  /** How a title or a cell is shown, for colours. `at`: which column; `row`: null for the titles. */
  paint?: (shown: string, at: number, row: readonly string[] | null) => string
}

/** So many rows are looked at for how wide the columns must be. Later ones may be wider. */
const LOOKED_AT = 500
const GAP = 2

/** A table, line by line: memory does not grow with the number of its rows. Without rows it is empty. */
export function* tableLines(
  columns: readonly Column[],
  rows: Iterable<readonly string[]>,
  { width, paint = shown => shown }: TableOptions,
): Generator<string> {
  const first: (readonly string[])[] = []
  let widths: number[] | null = null
  const line = (cells: readonly string[], row: readonly string[] | null) =>
    lineOf(columns, widths!, cells, row)
  const lineOf = (
    of: readonly Column[],
    wide: readonly number[],
    cells: readonly string[],
    row: readonly string[] | null,
  ) => {
    const shown = cells.map((cell, at) => {
      const text = width === null ? cell : fitted(cell, wide[at]!, of[at]!.cut)
      const room = at === cells.length - 1 ? '' : ' '.repeat(Math.max(0, wide[at]! - stringWidth(text)))
      return paint(text, at, row) + room
    })
    return `${shown.join(' '.repeat(GAP)).trimEnd()}\n`
  }
  function* begun() {
    widths = widthsOf(columns, first, width)
    yield line(
      columns.map(({ title }) => title),
      null,
    )
    for (const row of first) yield line(row, row)
  }
  for (const row of rows) {
    if (widths) yield line(row, row)
    else if (first.push(row) === LOOKED_AT) yield* begun()
  }
  if (!widths && first.length > 0) yield* begun()
}

/** As wide as they must be; where that is too much, the widest that can gives way first. */
function widthsOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null,
): number[] {
  const widths = columns.map(({ title }, at) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[at]!)), stringWidth(title)),
  )
  if (width === null) return widths
  const room = width - GAP * (columns.length - 1)
  for (let over = sum(widths) - room; over > 0; over--) {
    const giving = widths.map((wide, at) => (wide > columns[at]!.least ? wide : 0))
    const widest = giving.indexOf(Math.max(...giving))
    if (giving[widest] === 0) break
    widths[widest]!--
  }
  return widths
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}

const CUT = '…'
const letters = new Intl.Segmenter()

/** Cut by what a person takes for letters: an emoji of several parts is one. */
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
