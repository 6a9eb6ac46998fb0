import { describe, expect, it } from 'vitest'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { compareDelivered } from '../../../src/sync/delivered/index.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { rememberingDelivery } from '../../../src/sync/listing/index.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { codeOf } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { bytes, exif } from '../../protocol/bytes.ts'
import { drawn, segment } from '../../protocol/jpeg/jpegs.ts'
import { listingWith, never } from '../album-stage.ts'
import { audit, found } from '../audit/audit-stage.ts'
import {
  counting,
  deleted,
  failure,
  imagesOn,
  openWith,
  openWorkshop,
  red,
  summary,
  type Workshop,
} from '../workshop.ts'
import { altering, type Kind, type Photos, photo, type Sizes } from './altering-host.ts'

const PHOTOS: Photos = { 'a.jpg': photo(1), 'b.jpg': photo(2), 'c.jpg': photo(3) }
const SIZES = ['sent', 'delivered', 'none'] as const
const BARE = png(5, 4, 30).bytes

/** The photos and a picture without metadata are on a host that makes this of them. */
async function mirrored(kind: Kind, sizes?: Sizes): Promise<{ workshop: Workshop; host: ImageHost }> {
  const pictures = Object.entries(PHOTOS).map(([name, { sent }]) => [name, sent])
  const workshop = await openWith({ ...Object.fromEntries(pictures), 'bare.png': BARE })
  const named = listingWith(workshop.host, page => ({
    ...page,
    cdn_base_url: new URL(workshop.siteUrl).origin,
  }))
  const host = altering(hostWith(workshop.host, { list: named }), kind, PHOTOS, sizes)
  await workshop.pass({ host })
  return { workshop, host }
}

/** What is left of the records when the state is lost. */
function lost(workshop: Workshop, host: ImageHost) {
  const synced = openSynced(openDatabase(':memory:'))
  const sent: string[] = []
  const parts = {
    synced,
    host: rememberingDelivery(counting(host, sent), synced),
    contents: new AlbumContents(),
  }
  return { parts, sent, pass: () => workshop.pass(parts), summary: () => synced.summaries.mirror(1) }
}

describe('what a host does to pictures', () => {
  it.each([
    [null, 'as sent'],
    ['strip', 'without metadata'],
    ['pack', 'packed anew'],
    ['encode', 'encoded anew'],
  ] as const)('(%s) is learned from the first that it delivers: %s', async (kind, delivery) => {
    const { workshop } = await mirrored(kind)
    expect(workshop.synced.meta.get('delivery')).toEqual({ jpeg: delivery })
  })

  it('is not told by pictures that have nothing to take away, and that it delivers as sent', async () => {
    const workshop = await openWith({ 'bare.png': BARE, 'bare.jpg': PHOTOS['a.jpg']!.strip })
    await workshop.pass()
    expect(workshop.synced.meta.get('delivery')).toBeNull()
  })
})

describe('after a lost state', () => {
  it.each([
    ['strip', 'sent'],
    ['strip', 'delivered'],
    ['strip', 'none'],
    ['pack', 'sent'],
    ['pack', 'delivered'],
    ['pack', 'none'],
  ] as const)(
    'a host that alters (%s, lists sizes: %s) has all, and deletions go on',
    async (kind, sizes) => {
      const { workshop, host } = await mirrored(kind, sizes)
      const { pass, sent, summary } = lost(workshop, host)
      await pass()
      expect(sent).toEqual([])
      expect(summary()).toMatchObject({ synced: 3, linked: 1, failed: 0 })
      workshop.remove('a.jpg')
      await pass()
      expect(deleted(workshop)).toBe(1)
      expect(await imagesOn(workshop)).toEqual(['b.jpg', 'bare.png', 'c.jpg'])
    },
  )

  it.each(SIZES)('a host that encodes (lists sizes: %s) is sent none, and keeps all', async sizes => {
    const { workshop, host } = await mirrored('encode', sizes)
    const { pass, sent, summary } = lost(workshop, host)
    await pass()
    expect(sent).toEqual([])
    expect(summary()).toMatchObject({ synced: 0, linked: 4, failed: 0 })
    workshop.remove('a.jpg')
    await pass()
    expect(deleted(workshop)).toBe(0)
    expect(await imagesOn(workshop)).toHaveLength(4)
  })

  it.each([null, 'strip', 'pack'] as const)('a picture that was edited is sent (%s)', async kind => {
    const { workshop, host } = await mirrored(kind)
    // Upright: of one on its side nothing but another such picture shows whether the host has turned it.
    workshop.write('a.jpg', drawn({ seed: 9, before: segment(0xfe, 'edited') }))
    const { pass, sent, summary } = lost(workshop, host)
    await pass()
    expect(sent).toEqual(['a.jpg'])
    expect(summary()).toMatchObject({ failed: 0 })
  })
})

describe('after a lost state, a picture of which only metadata were edited', () => {
  it.each([
    [null, ['a.jpg']],
    ['strip', []],
    ['pack', []],
  ] as const)('(host: %s) is sent where the host keeps them: %j', async (kind, wanted) => {
    const { workshop, host } = await mirrored(kind)
    workshop.write('a.jpg', drawn({ seed: 1, before: bytes(exif(6), segment(0xfe, 'edited')) }))
    const { pass, sent, summary } = lost(workshop, host)
    await pass()
    expect(sent).toEqual(wanted)
    expect(summary()).toMatchObject({ failed: 0 })
  })
})

describe('an audit', () => {
  it.each(
    (
      [
        ['strip', 'without metadata'],
        ['pack', 'packed anew'],
        ['encode', 'encoded anew'],
      ] as const
    ).flatMap(row => SIZES.map(sizes => [...row, sizes] as const)),
  )(
    'finds nothing changed where the host alters (%s, %s, lists sizes: %s), and a later change',
    async (kind, delivery, sizes) => {
      const { workshop, host } = await mirrored(kind, sizes)
      await workshop.synced.commit(tx => tx.meta.clear('delivery'))
      await audit(workshop, host)
      expect(found(workshop)).toEqual([])
      expect(workshop.synced.meta.get('delivery')).toEqual({ jpeg: delivery })
      const list = listingWith(host, page => ({
        ...page,
        images: page.images.map(image => (image.name === 'b.jpg' ? { ...image, size: '99 bytes' } : image)),
      }))
      await audit(workshop, hostWith(host, { list }))
      expect(found(workshop)).toEqual(['changed b.jpg'])
    },
  )

  it('says what was altered where the host delivers as sent', async () => {
    const { workshop, host } = await mirrored(null)
    const list = listingWith(host, page => ({
      ...page,
      images: page.images.map(image => (image.name === 'b.jpg' ? { ...image, size: '99 bytes' } : image)),
    }))
    await audit(workshop, hostWith(host, { list }))
    expect(found(workshop)).toEqual(['changed b.jpg'])
  })
})

describe('an upload whose answer was lost', () => {
  it.each(['strip', 'pack'] as const)('is found by what its address delivers (%s)', async kind => {
    const { workshop, host } = await mirrored(kind)
    const photos = { ...PHOTOS, 'd.jpg': photo(4) }
    workshop.write('d.jpg', photos['d.jpg'].sent)
    const losing = hostWith(altering(workshop.host, kind, photos), {
      async send(...what) {
        await host.send(...what)
        return failure('find_out', 'HOST_ANSWER', 'send')
      },
    })
    await workshop.pass({ host: losing })
    await workshop.pass({ host: losing })
    expect(summary(workshop)).toMatchObject({ synced: 5, linked: 0, uncertain: 0 })
    expect(await imagesOn(workshop)).toHaveLength(5)
    // A restore compares with the image data of what was sent.
    const { images, files } = workshop.synced
    const [file] = [...files.below(1, '')].filter(({ name }) => name === 'd.jpg')
    expect(images.byId(file!.image!)!.data).not.toBeNull()
  })
})

it('no difference is proved unless an image of ours is delivered at an address of the same form', async () => {
  const workshop = await openWorkshop()
  await workshop.synced.commit(tx => tx.meta.set('cdn_base', 'https://c.example'))
  type Answer = (cdnUrl: string) => { status: number; size: number }
  const told = async (answer: Answer, mime = 'image/png') => {
    const host = hostWith(workshop.host, {
      fetchDelivered: async cdnUrl => ({ ok: true, sha256: Buffer.alloc(32), ...answer(cdnUrl) }),
    })
    const known = { size: 3, hash: Buffer.alloc(32, 1), mime, width: null, height: null, at: [] }
    const image = { remote_id: '1', name: 'a.png' }
    const compared = await compareDelivered({ ...workshop.context(), host }, image, known, never)
    return compared.verdict === 'unknown' ? codeOf(compared.why) : compared.verdict
  }
  expect(await told(() => ({ status: 200, size: 3 }))).toBe('delivery_not_shown')
  workshop.write('red.png', red)
  await workshop.pass()
  const { cdn_url } = workshop.synced.images.latest()!
  expect(await told(() => ({ status: 200, size: 3 }))).toBe('delivery_alters')
  expect(await told(() => ({ status: 200, size: 3 }), 'image/gif')).toBe('delivery_not_shown')
  expect(await told(url => ({ status: url === cdn_url ? 503 : 200, size: 3 }))).toBe('sample_not_read')
})
