import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FILE_TRANSITIONS } from '../../src/records/file-states.ts'
import { openDatabase, statements } from '../../src/synced/database.ts'
import { openAlbums, openUnusedAlbums } from '../../src/synced/tables/albums.ts'
import { ESCROW_TRANSITIONS, openEscrow } from '../../src/synced/tables/escrow.ts'
import { openFiles } from '../../src/synced/tables/files.ts'
import { IMAGE_TRANSITIONS, openImages } from '../../src/synced/tables/images.ts'

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
  const tables = statements(openDatabase(':memory:'))
  const writes = {
    files: openFiles(tables).writes,
    images: openImages(tables).writes,
    escrow: openEscrow(tables).writes,
    albums: openAlbums(tables).writes,
    unusedAlbums: openUnusedAlbums(tables).writes,
  }
  // Also of a Tx that was taken apart.
  const calls = /(?:\btx\.|(?<![.\w]))(files|images|escrow|albums|unusedAlbums)\.(\w+)\(/g
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  const found = sources
    .filter(name => name.endsWith('.ts') && !/^(records|synced|host)\//.test(name))
    .flatMap(name => {
      const text = readFileSync(join(ROOT, 'src', name), 'utf8')
      return [...text.matchAll(calls)].flatMap(([call, table, write]) =>
        write! in writes[table as keyof typeof writes] ? `${name}: ${call}` : [],
      )
    })
  // The first moves the ends of waits with a clock that was set. The second drops the counts of deletions that are older than the
  // hold's window. The third is a method of AlbumTree.
  expect(found.sort()).toEqual([
    'sync/clock.ts: escrow.moveMany(',
    'sync/deletions/hold.ts: escrow.prune(',
    'sync/uploads/upload.ts: albums.doubt(',
  ])
})
