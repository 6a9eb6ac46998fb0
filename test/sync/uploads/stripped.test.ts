import { createHash } from 'node:crypto'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { IN_MEMORY } from '../../../src/local/picture-buffers.ts'
import { madeLessThan, stripping } from '../../../src/local/sent-picture.ts'
import type { Strip } from '../../../src/protocol/picture/stripped/rules.ts'
import { given, lost } from '../../../src/records/images.ts'
import { movedTo } from '../../../src/records/moves.ts'
import { askedAnew } from '../../../src/records/pictures.ts'
import { hostWith, type ImageHost, PictureChanged } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { verifyLinks } from '../../../src/sync/uploads/adoption.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import type { ImageRow } from '../../../src/synced/tables/images.ts'
import { codeOf } from '../../../src/words/reasons.ts'
import { bytes } from '../../protocol/bytes.ts'
import { drawn, segment } from '../../protocol/jpeg/jpegs.ts'
import { cameraTags, LITTLE, PLACES, tiffOf } from '../../protocol/stripped/samples.ts'
import { never } from '../album-stage.ts'
import {
  counting,
  failure,
  imagesOn,
  openWorkshop,
  summary,
  unreachable,
  type Workshop,
} from '../workshop.ts'

function sendingWithout(strip: Strip): Pick<EngineContext, 'maker'> {
  return { maker: stripping(strip, () => new PictureChanged()) }
}
const WITHOUT = sendingWithout('location')

/** A photo with its place; `artist`: what an edit of its metadata changes. */
function photo(seed: number, artist = 'TheArtist'): Buffer {
  const model = `${artist} ${'x'.repeat(artist.length)}`
  const exif = tiffOf(LITTLE, { ...cameraTags(1), 315: artist, 271: model })
  return drawn({ seed, before: segment(0xe1, 'Exif\0\0', exif) })
}

async function delivered({ synced, host }: Pick<Workshop, 'synced' | 'host'>, path: string): Promise<Buffer> {
  const held: Uint8Array[] = []
  const { cdn_url } = imageOf(synced, path)
  const got = await host.fetchDelivered(cdn_url!, 1e6, never, chunk => held.push(chunk))
  expect(got).toMatchObject({ ok: true, status: 200 })
  return Buffer.concat(held)
}

function imageOf(synced: Workshop['synced'], name: string) {
  const [file] = [...synced.files.below(1, '')].filter(({ path }) => path === name)
  return synced.images.byId(file!.image!)!
}

const hasPlace = (sent: Buffer) => PLACES.some(place => sent.includes(place))

/** A pass with a state that knows nothing. */
async function afresh(workshop: Workshop, changes: Partial<EngineContext>, host: Partial<ImageHost> = {}) {
  const sent: string[] = []
  const synced = openSynced(openDatabase(':memory:'))
  const of = { host: hostWith(counting(workshop.host, sent), host), contents: new AlbumContents(), synced }
  // A new picture shows how addresses look.
  workshop.write('new.jpg', photo(9))
  const first = new Set([join(workshop.pictures, 'new.jpg')])
  await workshop.pass({ ...of, ...changes }, 'mirror', undefined, undefined, first)
  await workshop.pass({ ...of, ...changes })
  return { synced, sent, host: workshop.host }
}

describe('a picture that is sent without its place', () => {
  it('is delivered without it, and its file stays as it is', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    await workshop.pass(WITHOUT)
    const sent = await delivered(workshop, 'a.jpg')
    expect(hasPlace(photo(1))).toBe(true)
    expect(hasPlace(sent)).toBe(false)
    expect(sent.includes('TheArtist')).toBe(true)
    const image = imageOf(workshop.synced, 'a.jpg')
    expect(image).toMatchObject({ size: sent.byteLength, how: 'strip.location.1' })
    expect(summary(workshop)).toMatchObject({ synced: 1, pending_uploads: 0 })
  })

  it('is the same when only its metadata are edited', async () => {
    const sent: string[] = []
    const workshop = await openWorkshop()
    const changes = { ...sendingWithout('all'), host: counting(workshop.host, sent) }
    workshop.write('a.jpg', photo(1))
    await workshop.pass(changes)
    for (const artist of ['Another artist', 'A third']) {
      workshop.write('a.jpg', photo(1, artist))
      await workshop.pass(changes)
    }
    expect(sent).toEqual(['a.jpg'])
    workshop.write('a.jpg', photo(2))
    await workshop.pass(changes)
    expect(sent).toEqual(['a.jpg', 'a.jpg'])
    expect(await imagesOn(workshop)).toEqual(['a.jpg'])
  })

  it('moves, and its old image goes as one of a move', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    workshop.write('b.jpg', photo(2))
    await workshop.pass(WITHOUT)
    workshop.remove('a.jpg')
    workshop.write('sub/a.jpg', photo(1))
    await workshop.pass(WITHOUT)
    expect(await imagesOn(workshop)).toEqual(['a.jpg', 'b.jpg'])
    expect(workshop.events).toContainEqual(
      expect.objectContaining({ event: 'image_deleted', path: 'a.jpg', moved_to: 'sub/a.jpg' }),
    )
  })

  it('is known again when its file comes back as it was', async () => {
    const sent: string[] = []
    const workshop = await openWorkshop()
    const changes = { ...WITHOUT, host: counting(workshop.host, sent), graceMs: 1e9 }
    workshop.write('a.jpg', photo(1))
    await workshop.pass(changes)
    workshop.remove('a.jpg')
    await workshop.pass(changes)
    workshop.write('a.jpg', photo(1))
    await workshop.pass(changes)
    expect(sent).toEqual(['a.jpg'])
    expect(summary(workshop)).toMatchObject({ synced: 1, pending_deletions: 0 })
  })

  it('is found when no answer to its upload came', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    const send: ImageHost['send'] = async (...args) => {
      await workshop.host.send(...args)
      return failure('find_out', 'HOST_UNREACHABLE', 'send')
    }
    await workshop.pass({ ...WITHOUT, host: hostWith(workshop.host, { send }) })
    const sent: string[] = []
    const changes = { ...WITHOUT, host: counting(workshop.host, sent) }
    await workshop.pass(changes)
    await workshop.pass(changes)
    expect(sent).toEqual([])
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 0 })
    expect(imageOf(workshop.synced, 'a.jpg')).toMatchObject({ how: 'strip.location.1' })
  })
})

describe('a picture that differs from another only in what is taken out', () => {
  const ALL = sendingWithout('all')
  /** Where a deleted picture lies now, and how many deletions the hold counts. */
  function losses({ synced }: Workshop, image: ImageRow) {
    const { pending } = synced.escrow.toDelete({ mirror: 1, since: 0 })
    return { pending, path: movedTo(synced, image)?.path ?? null }
  }

  it('has an image of its own', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    workshop.write('b.jpg', photo(1, 'Another artist'))
    await workshop.pass(ALL)
    expect(await imagesOn(workshop)).toEqual(['a.jpg', 'b.jpg'])
    workshop.remove('b.jpg')
    await workshop.pass(ALL)
    expect(await imagesOn(workshop)).toEqual(['a.jpg'])
  })

  it.each([
    ['another', [], photo(1, 'Another artist')],
    ['that was edited after it was copied', [photo(1)], photo(1, 'Another artist')],
    ['without any', [], drawn({ seed: 1 })],
  ])('is no move to one with metadata (%s): its bytes are lost', async (_, before, twin) => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    for (const bytes of [...before, twin]) {
      workshop.write('b.jpg', bytes)
      await workshop.pass(ALL)
    }
    const image = imageOf(workshop.synced, 'a.jpg')
    workshop.remove('a.jpg')
    await workshop.pass({ ...ALL, graceMs: 1e9 })
    expect(losses(workshop, image)).toEqual({ pending: 1, path: null })
    expect(await imagesOn(workshop)).toEqual(['a.jpg', 'b.jpg'])
  })

  it('is no move either when its own metadata were edited after it was copied', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    workshop.write('b.jpg', photo(1))
    await workshop.pass(ALL)
    workshop.write('a.jpg', photo(1, 'Another artist'))
    await workshop.pass(ALL)
    const image = imageOf(workshop.synced, 'a.jpg')
    workshop.remove('a.jpg')
    await workshop.pass({ ...ALL, graceMs: 1e9 })
    expect(losses(workshop, image)).toEqual({ pending: 1, path: null })
  })

  it('is one where its own bytes lie', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    workshop.write('b.jpg', photo(1))
    await workshop.pass(ALL)
    const image = imageOf(workshop.synced, 'a.jpg')
    workshop.remove('a.jpg')
    await workshop.pass({ ...ALL, graceMs: 1e9 })
    expect(losses(workshop, image)).toEqual({ pending: 0, path: 'b.jpg' })
  })
})

it('what can not be stripped for sure is not sent, until it changes', async () => {
  const workshop = await openWorkshop()
  const strange = photo(1)
  // A segment that nobody knows, and that the pixels may need.
  workshop.write('a.jpg', bytes(strange.subarray(0, 2), segment(0xc8, 'strange'), strange.subarray(2)))
  await workshop.pass(WITHOUT)
  expect(await imagesOn(workshop)).toEqual([])
  const [failed] = workshop.synced.failures.uploadsOfCode('METADATA_STAY')
  expect(failed).toMatchObject({ name: 'a.jpg' })
  workshop.write('a.jpg', strange)
  await workshop.pass(WITHOUT)
  expect(await imagesOn(workshop)).toEqual(['a.jpg'])
})

it('what is cut short while it is stripped waits, and nothing ends', async () => {
  const workshop = await openWorkshop()
  const comment = segment(0xfe, 'x'.repeat(65_000))
  const large = drawn({ seed: 1, before: bytes(...Array(Math.ceil(IN_MEMORY / 65_000)).fill(comment)) })
  workshop.write('a.jpg', large)
  workshop.write('b.jpg', photo(2))
  const maker: EngineContext['maker'] = (open, ...rest) => {
    if (open.look.size === large.length) truncateSync(join(workshop.pictures, 'a.jpg'), 1000)
    return WITHOUT.maker!(open, ...rest)
  }
  await workshop.pass({ maker })
  expect(await imagesOn(workshop)).toEqual(['b.jpg'])
  workshop.write('a.jpg', large)
  await workshop.pass(WITHOUT)
  expect(await imagesOn(workshop)).toEqual(['a.jpg', 'b.jpg'])
})

describe('another setting', () => {
  it('sends nothing anew by itself, also when a file is touched', async () => {
    const sent: string[] = []
    const workshop = await openWorkshop()
    const host = counting(workshop.host, sent)
    workshop.write('a.jpg', photo(1))
    await workshop.pass({ host })
    workshop.write('a.jpg', photo(1))
    await workshop.pass({ host, ...WITHOUT })
    expect(sent).toEqual(['a.jpg'])
    expect(hasPlace(await delivered(workshop, 'a.jpg'))).toBe(true)
    workshop.write('a.jpg', photo(1, 'Another artist'))
    await workshop.pass({ host, ...WITHOUT })
    expect(sent).toEqual(['a.jpg', 'a.jpg'])
    expect(hasPlace(await delivered(workshop, 'a.jpg'))).toBe(false)
    expect(await imagesOn(workshop)).toEqual(['a.jpg'])
  })

  it('lets a new version of what strips send nothing', async () => {
    const sent: string[] = []
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    await workshop.pass(WITHOUT)
    workshop.write('a.jpg', photo(1))
    const strip = sendingWithout('location').maker!
    const newer: EngineContext['maker'] = async (...args) => {
      const made = await strip(...args)
      return typeof made === 'object' ? { ...made, hash: Buffer.alloc(32, 9), how: 'strip.location.2' } : made
    }
    await workshop.pass({ maker: newer, host: counting(workshop.host, sent) })
    expect(sent).toEqual([])
  })
})

describe('an image with what is taken out now', () => {
  /** A person asks to send anew what has the place. Returns how many files that are. */
  function askAnew({ synced, clock }: Workshop): number {
    const files = synced.files.madeLess(madeLessThan('location'))
    synced.commitNow(tx => askedAnew(tx, files, clock.wall()))
    return files.length
  }

  it('is not used again when the host loses the stripped one', async () => {
    const workshop = await openWorkshop({ deletions: 'keep' })
    workshop.write('a.jpg', photo(1))
    await workshop.pass()
    expect(askAnew(workshop)).toBe(1)
    await workshop.pass(WITHOUT)
    const stripped = imageOf(workshop.synced, 'a.jpg')
    await workshop.host.deleteImage(stripped.remote_id, never)
    workshop.synced.commitNow(tx => lost(tx, stripped, workshop.clock.wall()))
    await workshop.pass(WITHOUT)
    expect(hasPlace(await delivered(workshop, 'a.jpg'))).toBe(false)
    expect(await imagesOn(workshop)).toEqual(['a.jpg', 'a.jpg'])
  })

  it('can be asked to go until it has gone', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    await workshop.pass()
    expect(askAnew(workshop)).toBe(1)
    // The process was killed, and a person set that all goes as it lies there.
    await workshop.pass()
    expect(askAnew(workshop)).toBe(1)
    await workshop.pass(WITHOUT)
    expect(hasPlace(await delivered(workshop, 'a.jpg'))).toBe(false)
    expect(await imagesOn(workshop)).toEqual(['a.jpg'])
    expect(askAnew(workshop)).toBe(0)
  })

  it('is not used again when an edit is undone', async () => {
    const workshop = await openWorkshop({ deletions: 'keep' })
    workshop.write('a.jpg', photo(1))
    await workshop.pass()
    for (const seed of [2, 1]) {
      workshop.write('a.jpg', photo(seed))
      await workshop.pass(WITHOUT)
      expect(hasPlace(await delivered(workshop, 'a.jpg'))).toBe(false)
    }
    // What is sent without the place is used again.
    workshop.write('a.jpg', photo(2))
    await workshop.pass(WITHOUT)
    expect(await imagesOn(workshop)).toEqual(['a.jpg', 'a.jpg', 'a.jpg'])
  })

  it('goes when a person asks, also where a restore has stripped its file', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    workshop.write('b.jpg', photo(2))
    await workshop.pass()
    const { remote_id } = imageOf(workshop.synced, 'a.jpg')
    const bare = drawn({ seed: 1 })
    const restored = {
      remote_id,
      hash: createHash('sha256').update(bare).digest(),
      size: bare.length,
      how: 'stripped',
      turned: 0,
    } as const
    workshop.synced.commitNow(tx => given(tx, [restored]))
    workshop.write('a.jpg', bare)
    await workshop.pass(WITHOUT)
    expect(imageOf(workshop.synced, 'a.jpg').remote_id).toBe(remote_id)
    expect(askAnew(workshop)).toBe(2)
    await workshop.pass(WITHOUT)
    expect(askAnew(workshop)).toBe(0)
    expect(await imagesOn(workshop)).toEqual(['a.jpg', 'b.jpg'])
  })
})

describe('after a lost state', () => {
  it('a stripped picture is made anew, compared and not sent', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    await workshop.pass(WITHOUT)
    const { synced, sent } = await afresh(workshop, WITHOUT)
    expect(sent).toEqual(['new.jpg'])
    expect(imageOf(synced, 'a.jpg')).toMatchObject({ proof: 'compared', how: 'strip.location.1' })
    expect(synced.summaries.mirror(1)).toMatchObject({ synced: 2, linked: 0 })
  })

  it('an image with the metadata is told, and not sent', async () => {
    const workshop = await openWorkshop()
    workshop.write('a.jpg', photo(1))
    await workshop.pass()
    const { synced, sent } = await afresh(workshop, WITHOUT)
    expect(sent).toEqual(['new.jpg'])
    expect(imageOf(synced, 'a.jpg')).toMatchObject({ proof: 'compared', how: null, size: photo(1).length })
    const told = synced.history.of({ mirror: 1, path: 'a.jpg' }).at(-1)!
    expect(told.event).toBe('adopted')
    expect(codeOf(told.detail!)).toBe('had_metadata')
    expect(synced.meta.get('delivery')).toMatchObject({ jpeg: 'as sent' })
  })

  it.each([
    ['with', {}, null],
    ['without', WITHOUT, 'strip.location.1'],
  ])(
    'an image %s the metadata is linked as such by its size, and proved by its bytes',
    async (_, before, how) => {
      const workshop = await openWorkshop()
      workshop.write('a.jpg', photo(1))
      await workshop.pass(before)
      // After the credentials of before have ended.
      const ahead = 13 * 60_000
      const { wall, monotonic } = workshop.clock
      const clock = { ...workshop.clock, wall: () => wall() + ahead, monotonic: () => monotonic() + ahead }
      const changes = { ...WITHOUT, clock }
      const { synced, sent } = await afresh(workshop, changes, { fetchDelivered: unreachable })
      expect(sent).toEqual(['new.jpg'])
      expect(imageOf(synced, 'a.jpg')).toMatchObject({ proof: 'none', how })
      const parts = { ...workshop.context(), synced }
      expect(await verifyLinks(parts, never)).toMatchObject({ equal: 1, other: 0 })
      expect(imageOf(synced, 'a.jpg')).toMatchObject({ proof: 'compared', how })
      expect(synced.summaries.mirror(1)).toMatchObject({ synced: 2, linked: 0 })
    },
  )
})
