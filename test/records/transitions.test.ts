import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FILE_TRANSITIONS } from '../../src/records/file-states.ts'
import { ESCROW_TRANSITIONS } from '../../src/synced/tables/escrow.ts'
import { IMAGE_TRANSITIONS } from '../../src/synced/tables/images.ts'

const ROOT = join(import.meta.dirname, '../..')

type Table = Record<string, Record<string, readonly string[]>>

/** The rows of a table of transitions, as ARCHITECTURE.md draws them. */
function drawn(table: Table): string[] {
  return Object.entries(table).flatMap(([transition, to]) =>
    Object.entries(to).map(([becomes, from]) => `| ${transition} | ${from.join(', ')} | ${becomes} |`),
  )
}

it.each([
  ['a file', FILE_TRANSITIONS],
  ['an image', IMAGE_TRANSITIONS],
  ['an escrow entry', ESCROW_TRANSITIONS],
] as [string, Table][])('ARCHITECTURE.md draws every transition of %s', (what, table) => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const section = text.split(`The states of ${what}:\n`)[1]?.split('\n\n')[0]?.trim() ?? ''
  expect(section.split('\n').slice(2)).toEqual(drawn(table))
})

it('only src/records writes what is recorded of files, images, escrow and albums', () => {
  // Also of a Tx that was taken apart; an AlbumTree has methods of the same names as the albums' table.
  const calls = /(?:\btx\.|(?<![.\w]))(files|images|escrow|albums|unusedAlbums)\.(\w+)\(/g
  const WRITES: Record<string, readonly string[]> = {
    files: ['put', 'retry', 'remove'],
    images: ['put', 'prove', 'moved', 'keep', 'remove'],
    escrow: ['put', 'takeBack', 'postpone', 'hurry', 'approve', 'hold', 'unproved', 'proved', 'record'],
    albums: ['put', 'made', 'madeBlind', 'used'],
    unusedAlbums: ['put', 'remove', 'forgetAlbum'],
  }
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  const found = sources
    .filter(name => name.endsWith('.ts') && !/^(records|synced|host)\//.test(name))
    .flatMap(name => {
      const text = readFileSync(join(ROOT, 'src', name), 'utf8')
      return [...text.matchAll(calls)].flatMap(([call, table, write]) =>
        WRITES[table!]!.includes(write!) ? `${name}: ${call}` : [],
      )
    })
  expect(found).toEqual([])
})
