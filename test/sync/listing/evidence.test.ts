import { expect, it } from 'vitest'
import type { ListedImage } from '../../../src/protocol/records.ts'
import { canBe, featuresOf, type Listing, weighEvidence } from '../../../src/sync/listing/evidence.ts'
import type { OpenUpload } from '../../../src/synced/tables/journal.ts'

const picture = { name: 'x', size: 9, width: 40, height: 30 }
const stored = { id: '1', width: 40, height: 30 }
const swapped = { id: '1', width: 30, height: 40 }

it.each(['image/jpeg', 'image/tiff', 'image/webp', 'image/png'])(
  'a picture that EXIF may turn can be listed as it is stored and as it is turned: %s',
  mime => {
    for (const listed of [stored, swapped, { id: '1' }])
      expect(canBe(listed, { ...picture, mime })).toBe(true)
    expect(canBe({ ...swapped, height: 44 }, { ...picture, mime })).toBe(false)
  },
)

it.each(['image/gif', 'image/bmp', 'image/svg+xml', 'image/x-icon'])(
  'a picture that nothing turns is listed as it is stored: %s',
  mime => {
    expect(canBe(stored, { ...picture, mime })).toBe(true)
    expect(canBe(swapped, { ...picture, mime })).toBe(false)
  },
)

it('of a JPEG its own bytes tell whether EXIF turns it', () => {
  const jpeg = { format: 'jpeg', mime: 'image/jpeg', width: 40, height: 30 } as const
  expect(canBe(swapped, { ...picture, ...featuresOf(jpeg) })).toBe(false)
  expect(canBe(swapped, { ...picture, ...featuresOf({ ...jpeg, turned: true }) })).toBe(true)
  const png = { format: 'png', mime: 'image/png', width: 40, height: 30 } as const
  expect(canBe(swapped, { ...picture, ...featuresOf(png) })).toBe(true)
})

it('an image whose id the promised address holds is the one of the upload, whatever else is listed of it', () => {
  const upload = { ...picture, mime: 'image/gif', remote_id: null, cdn_url: 'https://cdn.example/i/0123abcd' }
  const kindFor = (id: string) => {
    const listing: Listing<ListedImage> = {
      unrecorded: [{ id, name: 'other', size: '1 B', width: 1, height: 1 }],
      pattern: null,
      promisesKept: true,
      isAltered: () => false,
      despiteSize: () => false,
      namesKept: true,
    }
    return [...weighEvidence([upload as OpenUpload], listing).values()][0]!.kind
  }
  expect(kindFor('0123abcd')).toBe('exact')
  expect(kindFor('0123abc')).toBe('nothing')
  // A short id may be there by chance.
  expect(kindFor('i')).toBe('nothing')
})
