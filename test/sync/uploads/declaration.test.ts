import { expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import type { Picture } from '../../../src/protocol/picture/picture.ts'
import type { UploadRequest } from '../../../src/protocol/records.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { Declaration } from '../../../src/sync/uploads/sender.ts'
import { exif, frame, jpeg, scan } from '../../protocol/bytes.ts'
import { emptyState } from '../../synced/open-tx.ts'
import { audit, found } from '../audit/audit-stage.ts'
import { failure, imagesOn, openWith, openWorkshop, summary, unaddressed, unreachable } from '../workshop.ts'

const PNG: Picture = { format: 'png', mime: 'image/png', width: 40, height: 30 }
const TURNED: Picture = { format: 'jpeg', mime: 'image/jpeg', width: 40, height: 30, turned: true }
const TIFF: Picture = { format: 'tiff', mime: 'image/tiff', width: 40, height: 30 }
const SIZELESS: Picture = { format: 'svg', mime: 'image/svg+xml', width: null, height: null }

function inShort({ width, height, skip_dimension_check }: Partial<UploadRequest>): string {
  if (skip_dimension_check) return 'skip'
  return width === undefined ? 'nothing' : `${width}×${height}`
}

/** Declares pictures to a host that takes `skip` alone, and refuses all else with a code. */
function account() {
  const synced = emptyState()
  return (picture: Picture, code: string | null = null): string[] => {
    const declaration = new Declaration(synced, picture)
    const tries = [inShort(declaration.fields())]
    if (code !== null && declaration.refused(failure('other_dimensions', code, 'send').failure))
      tries.push(inShort(declaration.fields()))
    expect(declaration.refused(failure('change_request', 'VALIDATION_ERROR', 'upload').failure)).toBe(false)
    synced.commitNow(tx => declaration.acknowledged(tx))
    return tries
  }
}

it.each([
  ['as stored', PNG, null, ['40×30']],
  ['as stored, turned or not', TURNED, null, ['40×30']],
  ['not at all of a TIFF', TIFF, null, ['nothing']],
  ['not at all of an SVG without a size', SIZELESS, null, ['nothing']],
  ['with skip where they are not known', { ...PNG, width: null }, null, ['skip']],
  ['with skip after a mismatch', PNG, 'DIMENSION_MISMATCH', ['40×30', 'skip']],
  ['with skip where the host misses them', TIFF, 'MISSING_WIDTH', ['nothing', 'skip']],
])('dimensions are declared %s', (_how, picture, code, tries) => {
  expect(account()(picture, code)).toEqual(tries)
})

it('a mismatch is remembered for pictures that EXIF turns, and for no others', () => {
  const declare = account()
  declare(PNG, 'DIMENSION_MISMATCH')
  declare(TURNED, 'UNREADABLE_DIMENSION')
  expect(declare(TURNED, 'DIMENSION_MISMATCH')).toEqual(['40×30', 'skip'])
  expect([TURNED, PNG, TIFF].flatMap(picture => declare(picture))).toEqual(['skip', '40×30', 'nothing'])
})

const turnedJpeg = (n: number) => jpeg(exif(6), frame(0xc0, 1000 + n, 30), scan('pixels'))

const APPLIES_EXIF = { readings: { dimensions: 'turned' } } as const

it('a host that applies EXIF refuses few of many turned pictures, and none of them looks changed', async () => {
  const workshop = await openWorkshop({}, APPLIES_EXIF)
  for (let n = 0; n < 50; n++) workshop.write(`${n}.jpg`, turnedJpeg(n))
  const declared: string[] = []
  const host: ImageHost = hostWith(workshop.host, {
    requestUpload(request, signal) {
      declared.push(inShort(request))
      return workshop.host.requestUpload(request, signal)
    },
  })
  await workshop.pass({ host, concurrency: 2 })
  expect(summary(workshop)).toMatchObject({ synced: 50, failed: 0 })
  expect(declared.length).toBeLessThanOrEqual(55)
  await audit(workshop)
  expect(found(workshop)).toEqual([])
})

it('a host that lists dimensions turned has an upload in doubt found all the same', async () => {
  const workshop = await openWith({ '0.jpg': turnedJpeg(0) }, {}, APPLIES_EXIF)
  const losing = hostWith(workshop.host, {
    async send(...picture) {
      const sent = await workshop.host.send(...picture)
      return sent.ok ? failure('find_out', 'HOST_ANSWER', 'send') : sent
    },
    ...unaddressed(workshop.host),
  })
  await workshop.pass({ host: losing })
  expect(summary(workshop)).toMatchObject({ uncertain: 1 })
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 3_600_000 }
  await workshop.pass({ clock, host: hostWith(workshop.host, { fetchDelivered: unreachable }) })
  expect(summary(workshop)).toMatchObject({ linked: 1, uncertain: 0 })
  expect(await imagesOn(workshop)).toEqual(['0.jpg'])
})
