import { expect, it } from 'vitest'
import { canBe, featuresOf } from '../../../src/sync/listing/evidence.ts'

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
