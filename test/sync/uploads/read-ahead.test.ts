import { expect, it } from 'vitest'
import { randomPicture } from '../../../bench/trees/picture-set.ts'
import { openPicture } from '../../../src/local/picture-file.ts'
import { hostWith, PictureChanged } from '../../../src/remote/host.ts'
import type { News } from '../../../src/sync/pass-request.ts'
import { png } from '../../pictures.ts'
import { imagesOn, many, openWith, openWorkshop, summary, type Workshop } from '../workshop.ts'

const CONCURRENCY = 3

/** A pass whose uploads stay on the way until `release` is called. `areHeld`: `read` pictures were read, and the intents of
 * `sending` uploads are recorded. `opened`: which pictures were read until then. */
function heldPass(workshop: Workshop, { read = 2 * CONCURRENCY - 1, sending = CONCURRENCY } = {}) {
  const opened = new Set<string>()
  const areOpened = Promise.withResolvers<void>()
  const areSending = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let onTheWay = 0
  let most = 0
  const host = hostWith(workshop.host, {
    async requestUpload(...args) {
      most = Math.max(most, ++onTheWay)
      return workshop.host.requestUpload(...args)
    },
    async send(...args) {
      if (workshop.synced.journal.openUploads().length === sending) areSending.resolve()
      await held.promise
      const sent = await workshop.host.send(...args)
      onTheWay--
      return sent
    },
  })
  const news: News = { scan: null, add: () => {} }
  const pass = workshop.pass(
    {
      host,
      concurrency: CONCURRENCY,
      async openPicture(root, path) {
        if (opened.add(path).size === read) areOpened.resolve()
        return openPicture(root, path, { changed: () => new PictureChanged() })
      },
    },
    'mirror',
    news,
  )
  return {
    opened,
    /** Scans everything beside the uploads. */
    scan: () => news.scan!(() => 'everything'),
    areHeld: Promise.all([areOpened.promise, areSending.promise]),
    release: () => held.resolve(),
    most: () => most,
    pass,
  }
}

it('pictures are read ahead while as many uploads as may be are on the way', async () => {
  const workshop = await openWith(many(12))
  const { opened, areHeld, release, most, pass } = heldPass(workshop)
  await areHeld
  expect(opened.size).toBe(2 * CONCURRENCY - 1)
  expect(workshop.synced.journal.openUploads()).toHaveLength(CONCURRENCY)
  release()
  expect(await pass).toEqual({ stopped: [] })
  expect(most()).toBe(CONCURRENCY)
  expect(summary(workshop)).toMatchObject({ synced: 12 })
})

it('no more pictures that are too large for memory are read than are on the way', async () => {
  const workshop = await openWorkshop()
  for (let n = 1; n <= 6; n++) workshop.write(`${n}.bmp`, randomPicture(1024, 1024 + n))
  // Nothing is known of the line yet, so it has room for one of them.
  const { opened, areHeld, release, pass } = heldPass(workshop, { read: CONCURRENCY, sending: 1 })
  await areHeld
  expect(opened.size).toBe(CONCURRENCY)
  release()
  expect(await pass).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 6 })
})

it('a picture that was deleted or saved anew after it was read ahead is not sent as it was', async () => {
  const workshop = await openWith(many(5))
  const { opened, areHeld, release, pass } = heldPass(workshop)
  await areHeld
  const sending = new Set(workshop.synced.journal.openUploads().map(({ name }) => name))
  const [deleted, changed] = [...opened].filter(path => !sending.has(path))
  workshop.remove(deleted!)
  workshop.write(changed!, png(9, 9).bytes)
  release()
  expect(await pass).toEqual({ stopped: [] })
  const uploaded = () =>
    workshop.events.flatMap(event => (event.event === 'picture_uploaded' ? [event.path] : []))
  expect(new Set(uploaded())).toEqual(sending)
  expect(await workshop.pass()).toEqual({ stopped: [] })
  expect(uploaded().slice(CONCURRENCY)).toEqual([changed])
  expect(summary(workshop)).toMatchObject({ synced: CONCURRENCY + 1 })
})

it.each<[string, (workshop: Workshop, waiting: string[]) => void]>([
  ['hidden', ({ write }, waiting) => write('.albumdignore', waiting.join('\n'))],
  ['in a folder in doubt', ({ remove }) => remove('.albumdignore')],
])('a picture that a scan has found %s since it was read ahead is not sent', async (_, change) => {
  const workshop = await openWith({ '.albumdignore': 'x.png' })
  for (let n = 0; n < 5; n++) workshop.write(`${n}.png`, png(2, 2 + n).bytes)
  const { opened, areHeld, release, scan, pass } = heldPass(workshop)
  await areHeld
  const sending = workshop.synced.journal.openUploads().map(({ name }) => name)
  const waiting = [...opened].filter(path => !sending.includes(path))
  change(workshop, waiting)
  await scan()
  release()
  expect(await pass).toEqual({ stopped: [] })
  expect(await imagesOn(workshop)).toEqual(sending.sort())
})
