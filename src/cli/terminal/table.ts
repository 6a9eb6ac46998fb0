import stringWidth from 'string-width'

export interface Column {
  title: string
  /** In columns of a terminal: it is not made narrower than this to fit. */
  least: number
  /** What is cut away of a cell that does not fit; the words of a last column's may go on below instead. */
  cut: 'middle' | 'end' | 'wrap'
  /** It is left out where the terminal has no room even for the least of each. */
  spare?: true
}

export interface TableOptions {
  /** Of the terminal; null where nothing is cut. */
  width: number | null
  /** How a title or a cell is shown, for colours. `at`: which column; `row`: null for the titles. */
  paint?: (shown: string, at: number, row: readonly string[] | null) => string
}

/** Null where it is no terminal, or one that does not tell. */
export function widthOf(out: NodeJS.WriteStream): number | null {
  return out.columns || null
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
  let widths: ReadonlyMap<number, number> | null = null
  const line = (cells: readonly string[], row: readonly string[] | null) => {
    let indent = 0
    let begun = ''
    for (const [at, wide] of widths!) {
      const [text, ...below] = width === null ? [cells[at]!] : fitted(cells[at]!, wide, columns[at]!.cut)
      const shown = [text!, ...below.map(more => `\n${' '.repeat(indent)}${more}`)].join('')
      begun += `${paint(shown, at, row)}${' '.repeat(Math.max(0, wide - stringWidth(text!)) + GAP)}`
      indent += wide + GAP
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

/**
 * Of each column that is shown. As wide as they must be; where that is too much, the widest that can gives way first,
 * and where that is not enough, spare ones are left out, the last first.
 */
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

/** The lines of a cell: one, but where words go on below. Cut by what a person takes for letters. */
function fitted(text: string, width: number, cut: Column['cut']): string[] {
  if (stringWidth(text) <= width) return [text]
  if (cut === 'wrap') return wrapped(text, width)
  const parts = [...letters.segment(text)].map(({ segment }) => segment)
  const behind = cut === 'middle' ? Math.floor((width - 1) / 2) : 0
  const end = taken(parts.toReversed(), behind).reverse()
  return [[...taken(parts, width - 1 - stringWidth(end.join(''))), CUT, ...end].join('')]
}

function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)}${lines.at(-1) ? ' ' : ''}${word}`
    if (lines.at(-1) === '' || stringWidth(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

function taken(parts: readonly string[], width: number): string[] {
  let wide = 0
  const end = parts.findIndex(part => {
    wide += stringWidth(part)
    return wide > width
  })
  return parts.slice(0, end === -1 ? parts.length : end)
}
