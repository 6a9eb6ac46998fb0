import type { Figure } from './figure.ts'
import { digits } from './units.ts'

const HEAD = ['figure', 'ours', 'theirs', 'ratio', 'aim', 'met']

/** What the columns alone do not tell. */
export const ABOUT_RATIOS =
  "ratio: the median of the rounds' ratios and their spread, each round side by side, and not the quotient of the two columns (but for latency and peak memory, where it is the quotient)"

/** The table as Markdown, its columns aligned. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(({ part, figure, ours, theirs, ratio, spread, aim, met }) => [
    `${part}: ${figure}`,
    ours,
    theirs,
    ratio === null
      ? ''
      : `${digits(ratio)}${spread ? ` (${digits(spread[0])} to ${digits(spread[1])})` : ''}`,
    aim,
    met === null ? '' : met ? 'yes' : 'NO',
  ])
  const widths = HEAD.map((head, at) => Math.max(head.length, ...rows.map(row => row[at]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const rule = `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`
  return [line(HEAD), rule, ...rows.map(line)].join('\n')
}
