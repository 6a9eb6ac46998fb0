import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { type Column, tableLines } from '../../src/cli/terminal/table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'PATH', least: 10, cut: 'middle' },
  { title: 'ID', least: 4, cut: 'end' },
  { title: 'ADDRESS', least: 10, cut: 'middle' },
]
const LONG = [
  ['a/very/long/path/to/a/picture.png', 'id-0123456789', 'https://cdn.example.com/i/0123456789.png'],
  ['写真/日本/桜の花がきれいに咲いている.png', 'b', 'https://cdn.example.com/i/1.png'],
  [
    '👨‍👩‍👧‍👦/👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦.png',
    'c',
    'https://cdn.example.com/i/2.png',
  ],
]
const lines = (rows: Iterable<string[]>, width: number | null) => [...tableLines(COLUMNS, rows, { width })]

it.each([200, 80, 60, 40, 28])('fits a terminal of %i columns, each column beginning at one place', width => {
  const shown = lines(LONG, width).map(line => line.slice(0, -1))
  for (const line of shown) expect(stringWidth(line)).toBeLessThanOrEqual(width)
  const begins = shown.map(line => {
    const at = line.search(/ (ID|id-?|b|c)\S* /)
    return stringWidth(line.slice(0, at))
  })
  expect(new Set(begins).size).toBe(1)
})

it('cuts a path in its middle, so that its name can be seen, and nothing where there is no terminal', () => {
  const [, narrow] = lines(LONG, 60)
  expect(narrow).toMatch(/^a\/very.*….*\.png {2}/)
  expect(lines([LONG[0]!], null)[1]).toBe(`${LONG[0]!.join('  ')}\n`)
  expect(lines([], 80)).toEqual([])
})

it('hands out lines while rows still come', () => {
  let asked = 0
  function* rows() {
    for (; asked < 1_000_000; asked++) yield [`${asked}.png`, `${asked}`, 'x']
  }
  const table = tableLines(COLUMNS, rows(), { width: 80 })
  expect(table.next().value).toMatch(/^PATH/)
  for (let line = 0; line < 2000; line++) table.next()
  expect(asked).toBeLessThan(5000)
})

it('leaves out what can be spared where there is no room for the least of each', () => {
  const columns: readonly Column[] = [
    { title: 'PATH', least: 20, cut: 'middle' },
    { title: 'ID', least: 8, cut: 'end', spare: true },
    { title: 'ADDRESS', least: 20, cut: 'middle', spare: true },
  ]
  const titles = (width: number) => [...tableLines(columns, LONG, { width })][0]!.trim().split(/ +/)
  expect(titles(60)).toEqual(['PATH', 'ID', 'ADDRESS'])
  expect(titles(40)).toEqual(['PATH', 'ID'])
  expect(titles(24)).toEqual(['PATH'])
})
