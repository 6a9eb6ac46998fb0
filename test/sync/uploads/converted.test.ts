import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { asItLies, CONVERTED, type Maker } from '../../../src/local/sent-picture.ts'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { readPicture } from '../../../src/protocol/picture/picture.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { because } from '../../../src/words/reasons.ts'
import { BLUE, coded, heic, RED } from '../../protocol/heics.ts'
import { drawn } from '../../protocol/jpeg/jpegs.ts'
import { counting, failure, imagesOn, openWorkshop, summary } from '../workshop.ts'

const MIRROR = { converts: true }
const red = heic([coded(RED)])

/** Makes a JPEG that each version makes otherwise; of a HEIC that has no red, none. */
function convertingBy(version: number): Maker {
  return async open => {
    if (open.foreign !== 'HEIC') return asItLies(open)
    const file = Buffer.from(await open.source.read(0, open.source.size))
    if (!file.includes(RED)) return because('not_converted', { why: because('heic_hdr', { detail: 'HLG' }) })
    const bytes = drawn({ seed: version })
    return {
      ...asItLies(open),
      hash: createHash('sha256').update(bytes).digest(),
      size: bytes.length,
      source: sourceOfBytes(bytes),
      memory: null,
      chunks: async function* () {
        yield bytes
      },
      bare: false,
      picture: await readPicture(sourceOfBytes(bytes)),
      how: `${CONVERTED}.location.version ${version}`,
    }
  }
}

it('a HEIC that another version converts otherwise is linked to its image after a lost state', async () => {
  const workshop = await openWorkshop(MIRROR)
  workshop.write('a.heic', red)
  workshop.write('b.jpg', drawn({ seed: 7 }))
  await workshop.pass({ maker: convertingBy(1) })
  expect(await imagesOn(workshop)).toEqual(['a.heic.jpg', 'b.jpg'])
  for (const [version, state] of [
    [1, 'synced'],
    [2, 'linked'],
  ] as const) {
    const sent: string[] = []
    const synced = openSynced(openDatabase(':memory:'))
    // A new picture shows how the host delivers.
    workshop.write(`c${version}.jpg`, drawn({ seed: 10 + version }))
    const of = { host: counting(workshop.host, sent), contents: new AlbumContents(), synced }
    const first = new Set([join(workshop.pictures, `c${version}.jpg`)])
    for (const named of [first, undefined])
      await workshop.pass({ ...of, maker: convertingBy(version) }, 'mirror', undefined, undefined, named)
    expect([...synced.files.below(1, '')].find(({ path }) => path === 'a.heic')).toMatchObject({ state })
    expect(sent.filter(name => name.includes('heic'))).toEqual([])
  }
})

it('a HEIC whose answer was lost is found on the host', async () => {
  const workshop = await openWorkshop(MIRROR)
  workshop.write('a.heic', red)
  const host = hostWith(workshop.host, {
    async send(...args) {
      await workshop.host.send(...args)
      return failure('find_out', 'HOST_UNREACHABLE', 'send')
    },
  })
  const maker = convertingBy(1)
  await workshop.pass({ maker, host })
  await workshop.pass({ maker })
  expect(summary(workshop)).toMatchObject({ synced: 1 })
  expect(await imagesOn(workshop)).toEqual(['a.heic.jpg'])
})

it('a HEIC of which no JPEG can be made keeps the image of its older version', async () => {
  const workshop = await openWorkshop(MIRROR)
  workshop.write('a.heic', red)
  await workshop.pass({ maker: convertingBy(1) })
  workshop.write('a.heic', heic([coded(BLUE)]))
  await workshop.pass({ maker: convertingBy(1) })
  expect(workshop.synced.failures.uploadsOfCode('NOT_CONVERTED')).toHaveLength(1)
  expect(await imagesOn(workshop)).toEqual(['a.heic.jpg'])
})
