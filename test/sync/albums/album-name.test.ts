import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALBUM_NAME_MAX } from '../../../src/protocol/limits.ts'
import { albumNameOf, albumPathOf } from '../../../src/sync/album.ts'
import { anyText } from '../../any-text.ts'

const unit = fc.oneof(fc.constantFrom('a', 'é', '~', '0', 'f', ' ', '😀', '👩‍👩‍👧', '\n'), anyText)
const text = (most: number) => fc.array(unit, { maxLength: most }).map(units => units.join(''))
const hash = fc.stringMatching(/^[0-9a-f]{16}$/)

/** Names that are short, long, alike at their beginning, or made to look shortened. */
const folder = fc
  .oneof(
    text(30),
    text(160),
    fc.tuple(fc.constantFrom('x'.repeat(100), '😀'.repeat(50), `x${'😀'.repeat(60)}`), text(3)).map(join),
    fc.tuple(text(20), fc.constant('~'), hash).map(join),
    fc.integer({ min: 78, max: 104 }).map(length => `${'x'.repeat(length)}😀${'y'.repeat(30)}`),
  )
  // The album name of a folder may be the name of another folder.
  .chain(name => fc.constantFrom(name, albumNameOf(name), albumNameOf(albumNameOf(name))))
  .filter(name => name !== '' && !name.includes('/'))

function join(parts: string[]): string {
  return parts.join('')
}

describe('albumNameOf', () => {
  it('gives two folders two albums', () => {
    fc.assert(
      fc.property(fc.uniqueArray(folder, { minLength: 2, maxLength: 12 }), folders => {
        expect(new Set(folders.map(albumNameOf)).size).toBe(folders.length)
      }),
      { numRuns: 2000 },
    )
  })

  it('gives whole characters, at most as many as an album name may have, and the same each time', () => {
    fc.assert(
      fc.property(folder, name => {
        const album = albumNameOf(name)
        expect(album.length).toBeGreaterThan(0)
        expect(album.length).toBeLessThanOrEqual(ALBUM_NAME_MAX)
        expect(album.isWellFormed()).toBe(true)
        expect(albumNameOf(name)).toBe(album)
      }),
      { numRuns: 2000 },
    )
  })

  // A change of this function would make new albums for folders that have theirs.
  it.each([
    ['Holidays', 'Holidays'],
    ['x'.repeat(100), 'x'.repeat(100)],
    ['x'.repeat(101), `${'x'.repeat(83)}~c675a2e604b0cd12`],
    [`${'x'.repeat(82)}😀${'y'.repeat(40)}`, `${'x'.repeat(82)}~c124510b672c90f1`],
    ['a~0123456789abcdef', 'a~0123456789abcdef~4586717e11f65336'],
  ])('of %s is settled', (name, album) => {
    expect(albumNameOf(name)).toBe(album)
  })
})

describe('albumPathOf', () => {
  it('hangs folders below the album of their mirror, or in the root', () => {
    expect(albumPathOf('Photos/Home', 'a/b')).toEqual(['Photos', 'Home', 'a', 'b'])
    expect(albumPathOf('Photos', '')).toEqual(['Photos'])
    expect(albumPathOf('', 'a')).toEqual(['a'])
    expect(albumPathOf('', '')).toEqual([])
  })
})
