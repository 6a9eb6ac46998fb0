import { expect, test } from 'vitest'
import { walkHeic } from '../../src/protocol/picture/heic.ts'
import { be32, bytes } from './bytes.ts'
import { box, coded, heic, RED } from './heics.ts'
import { partsOf, verdictOf } from './verdicts.ts'

const CLOSED = { kind: 'closed', early: true }
const whole = heic([coded(RED)])
const long = (length: number, ...content: Uint8Array[]) =>
  bytes(be32(1), 'mpvd', be32(0), be32(length), ...content)

test('a HEIC is a row of boxes', async () => {
  const parts = await partsOf(walkHeic, whole, box('free'), long(20, be32(7)))
  expect(parts.map(({ name, role }) => `${name} ${role}`)).toEqual([
    'ftyp header',
    'meta header',
    'mdat image',
    'free metadata',
    'mpvd metadata',
    'end end',
  ])
  expect(await verdictOf(walkHeic, whole)).toEqual(CLOSED)
  // A length of zero is up to the end.
  expect(await verdictOf(walkHeic, whole, be32(0), 'free', 'anything')).toEqual(CLOSED)
})

test('its last box ends where the file ends', async () => {
  for (let length = 1; length < whole.length; length++) {
    const part = whole.subarray(0, length)
    const isBetween = [whole.indexOf('meta') - 4, whole.indexOf('mdat') - 4].includes(length)
    expect(await verdictOf(walkHeic, part), `${length}`).toMatchObject(
      isBetween ? CLOSED : { kind: 'missing' },
    )
  }
  expect(await verdictOf(walkHeic, whole, 'A TRAILER')).toMatchObject({ code: 'cut', part: 'box AILE' })
  expect(await verdictOf(walkHeic, whole, 'xx')).toMatchObject({ code: 'broken', at: whole.length })
  expect(await verdictOf(walkHeic, whole, Buffer.alloc(5000))).toMatchObject({ code: 'unwritten' })
  for (const length of [2, 7])
    expect(await verdictOf(walkHeic, whole, be32(length), 'free')).toMatchObject({ code: 'broken' })
  expect(await verdictOf(walkHeic, whole, long(15))).toMatchObject({ code: 'broken' })
  expect(await verdictOf(walkHeic, whole, be32(1), 'mpvd', be32(0))).toMatchObject({ code: 'cut' })
  expect(await verdictOf(walkHeic, whole, bytes(be32(1), 'mpvd', be32(2 ** 31), be32(0)))).toMatchObject({
    code: 'cut',
  })
})
