import { expect, it } from 'vitest'
import { changesOf } from '../../../src/sync/listing/changed-name.ts'

const LONG = 'a name that is longer than hosts like'

it.each([
  ['IMG_1.JPEG', 'img_1.jpg'],
  ['a.tiff', 'a.TIF'],
  ['a b:c.png', 'a_b_c.png'],
  ['Größe.png', 'Gr__e.png'],
  ['a & "b".png', 'a &amp; &quot;b&#34;.png'],
  ['a.png', 'a (1).png'],
  ['a.png', 'a'],
  ['ﬁn.png', 'fin.png'],
  [`${LONG}.png`, LONG.slice(0, 32)],
  [`${LONG}.png`, `${LONG}.pn`],
  [`${LONG}.png`, `${LONG.slice(0, 32)}.png`],
  [`${LONG}.png`, `${LONG.slice(0, 32)} (12).png`],
  ['v1.2', 'v1_2'],
])('%s may be listed as %s', (name, listed) => {
  expect(changesOf(name)(listed)).toBe(true)
})

it.each([
  ['a.png', 'b.png'],
  ['a.png', 'a.jpg'],
  ['IMG_10.png', 'IMG_1.png'],
  ['a (1).png', 'a (2).png'],
  ['a.png', ''],
  [`${LONG}.png`, `${LONG.slice(0, 31)}.png`],
  [`${LONG}.png`, `${LONG}s.png`],
])('%s is not listed as %s', (name, listed) => {
  expect(changesOf(name)(listed)).toBe(false)
})
