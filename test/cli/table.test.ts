import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { tableLines } from '../../src/cli/terminal/table.ts'

const TITLES = ['PATH', 'ID', 'ADDRESS']
const ROWS = [
  ['a/very/long/path/to/a/picture.png', 'id-0123456789', 'https://cdn.example.com/i/0123456789.png'],
  ['写真/日本/桜の花がきれいに咲いている.png', 'b', 'https://cdn.example.com/i/1.png'],
  ['👨‍👩‍👧‍👦/👨‍👩‍👧‍👦.png', 'c', 'https://cdn.example.com/i/2.png'],
]

it('begins each column at one place, whatever characters stand before it, and cuts nothing', () => {
  const shown = [...tableLines(TITLES, ROWS)].map(line => line.slice(0, -1))
  const begins = shown.map(line => stringWidth(line.slice(0, line.search(/ (ID|id-|b|c)\S* /))))
  expect(new Set(begins).size).toBe(1)
  expect(shown[1]!.split(/ {2,}/)).toEqual(ROWS[0])
  expect([...tableLines(TITLES, [])]).toEqual([])
})

it('hands out lines while rows still come', () => {
  let asked = 0
  function* rows() {
    for (; asked < 1_000_000; asked++) yield [`${asked}.png`, `${asked}`, 'x']
  }
  const table = tableLines(TITLES, rows())
  expect(table.next().value).toMatch(/^PATH/)
  for (let line = 0; line < 2000; line++) table.next()
  expect(asked).toBeLessThan(5000)
})

it('puts cells below one another, whole, where rows do not fit', () => {
  const lines = (width: number) =>
    [...tableLines(TITLES, ROWS.slice(0, 1), undefined, { width, tail: 1 })].join('')
  const [path, id, address] = ROWS[0]!
  expect(lines(90)).toMatch(/^PATH .*\n.*\n$/)
  expect(lines(89)).toBe(`${path}\n  ${id}\n  ${address}\n`)
})
