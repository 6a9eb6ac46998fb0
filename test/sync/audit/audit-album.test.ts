import { describe, expect, it } from 'vitest'
import type { ListedImage } from '../../../src/protocol/records.ts'
import { type AuditRecords, compareAlbum } from '../../../src/sync/audit/audit-album.ts'
import type { ImageRow } from '../../../src/synced/tables/images.ts'
import { because, inWords } from '../../../src/words/reasons.ts'

const row = (id: number, more: Partial<ImageRow> = {}): ImageRow => ({
  id,
  remote_id: `img-${id}`,
  cdn_url: null,
  album: 1,
  name: `${id}.png`,
  hash: Buffer.alloc(32, id),
  size: 349_915,
  mtime: null,
  mime: 'image/png',
  width: 300,
  height: 200,
  recorded_at: 0,
  proof: 'uploaded',
  kept: 0,
  data: null,
  listed: null,
  how: null,
  ...more,
})

const listed = (id: number, more: Partial<ListedImage> = {}): ListedImage => ({
  id: `img-${id}`,
  name: `${id}.png`,
  size: '349.9 KB',
  width: 300,
  height: 200,
  ...more,
})

function records(images: ImageRow[], more: Partial<AuditRecords> = {}): AuditRecords {
  return {
    album: 1,
    images: images.filter(({ album }) => album === 1),
    byId: id => images.find(({ remote_id }) => remote_id === id),
    isKnown: () => true,
    isLeaving: () => false,
    isNeeded: () => true,
    wasDeleted: () => false,
    isUnderWay: () => false,
    deliveryOf: () => undefined,
    nameOf: album => (album === null ? '' : `album ${album}`),
    ...more,
  }
}

const found = (shown: ListedImage[], known: AuditRecords) =>
  compareAlbum(shown, known).findings.map(({ kind, remote_id }) => `${kind} ${remote_id}`)

describe('an album that is as recorded', () => {
  it.each<[string, Partial<ListedImage>, Partial<ImageRow>]>([
    ['to the letter', {}, {}],
    ['with dimensions a pixel off', { width: 301, height: 199 }, {}],
    ['with a picture that the host turned', { width: 200, height: 300 }, {}],
    ['with a size in binary units', { size: '341.7 KB' }, {}],
    ['with a size in whole units', { size: '350KB' }, {}],
    ['with a size whose thousands are set apart', { size: '349,915 B' }, {}],
    ['with a size that can not be read', { size: 'quite large' }, {}],
    ['with nothing but ids', { name: undefined, size: undefined, width: undefined, height: undefined }, {}],
    ['with a name in another form of Unicode', { name: 'e\u0301.png' }, { name: '\u00e9.png' }],
    ['with a name without the blanks around it', { name: 'a.png' }, { name: ' a.png' }],
    ['with a name that a host makes of it', { name: 'my_trip (1).jpg' }, { name: 'My trip.JPEG' }],
    ['with an SVG that has other dimensions', { width: 1, height: 1 }, { mime: 'image/svg+xml' }],
    ['with a picture whose dimensions are not known', { width: 9 }, { width: null, height: null }],
  ])('has no findings: %s', (_, shown, known) => {
    expect(compareAlbum([listed(1, shown)], records([row(1, known)]))).toMatchObject({
      findings: [],
      missing: [],
      elsewhere: [],
    })
  })
})

describe('an image that changed', () => {
  it.each<[string, Partial<ListedImage>]>([
    ['name', { name: 'other.png' }],
    ['pixels', { width: 302 }],
    ['size', { size: '351.0 KB' }],
    ['size', { size: '12 B' }],
  ])('is told by its %s', (word, shown) => {
    const { findings } = compareAlbum([listed(1, shown)], records([row(1)]))
    expect(findings).toMatchObject([{ kind: 'changed', remote_id: 'img-1', album: 1, name: '1.png' }])
    expect(inWords(findings[0]!.detail)).toContain(word)
  })

  it('is not told by its name where the host has names of its own for all', () => {
    const images = [1, 2, 3].map(id => row(id))
    expect(
      found(
        [1, 2, 3].map(id => listed(id, { name: `x${id}` })),
        records(images),
      ),
    ).toEqual([])
    const kept = [listed(1), listed(2), listed(3, { name: 'x' })]
    expect(found(kept, records(images))).toEqual(['changed img-3'])
  })

  it('is told by its album', () => {
    const { elsewhere, findings } = compareAlbum([listed(2)], records([row(2, { album: 7 })]))
    expect(findings).toEqual([])
    expect(elsewhere).toMatchObject([{ kind: 'changed', remote_id: 'img-2', album: 1 }])
    expect(inWords(elsewhere[0]!.detail)).toContain('album 7')
  })
})

describe('an image that no record stands for', () => {
  it('is foreign, or twice where it looks like ours or was deleted by us', () => {
    const shown = [
      listed(1),
      listed(5, { name: 'other.png' }),
      listed(6, { name: '1.png' }),
      listed(7, { name: '1.png', size: '2 MB' }),
      listed(8, { name: 'gone.png' }),
    ]
    const known = records([row(1)], { wasDeleted: ({ id }) => id === 'img-8' })
    expect(found(shown, known)).toEqual(['foreign img-5', 'twice img-6', 'foreign img-7', 'twice img-8'])
    // albumd may have put it there, and have lost its records since.
    const [foreign, twice] = compareAlbum(shown, known).findings
    expect(foreign!.detail).toBe(because('not_recorded'))
    expect(twice!.detail).toBe(because('looks_like', { id: 'img-1' }))
  })

  it('is named by the finding of a missing image that it may be the same picture as, one for each', () => {
    const shown = [listed(5, { name: '1.png' }), listed(6, { name: '1.png' })]
    const { findings, instead } = compareAlbum(shown, records([row(1)]))
    expect(findings).toMatchObject([{ kind: 'foreign', remote_id: 'img-6' }])
    expect([...instead]).toEqual([[1, 'img-5']])
  })

  it('is nothing to tell where it may be an upload in doubt', () => {
    expect(found([listed(5)], records([], { isUnderWay: () => true }))).toEqual([])
  })
})

describe('an image that no file needs', () => {
  const twins = [row(1, { name: 'a.png' }), row(2, { name: 'a.png', hash: Buffer.alloc(32, 1) })]
  const shown = [listed(1, { name: 'a.png' }), listed(2, { name: 'a.png' })]
  const isNeeded = ({ id }: ImageRow) => id === 1

  it('is there twice beside one of its name and bytes that a file needs', () => {
    expect(found(shown, records(twins, { isNeeded }))).toEqual(['twice img-2'])
  })

  it('was kept where its twin is not shown, has other bytes, or is needed as little', () => {
    expect(found(shown.slice(1), records(twins, { isNeeded }))).toEqual([])
    const other = [twins[0]!, row(2, { name: 'a.png' })]
    expect(found(shown, records(other, { isNeeded }))).toEqual([])
    expect(found(shown, records(twins, { isNeeded: () => false }))).toEqual([])
  })

  it('is not ours to judge where its bytes were never compared', () => {
    const linked = [twins[0]!, { ...twins[1]!, proof: 'none' as const }]
    expect(found(shown, records(linked, { isNeeded }))).toEqual([])
  })
})

it('an image that came during the audit, or that a DELETE under way may end, is no finding', () => {
  const known = records([row(1), row(2)], { isKnown: () => false })
  expect(compareAlbum([listed(1, { name: 'x' })], known)).toMatchObject({ findings: [], missing: [] })
})

it('an image that waits for its deletion may be listed in any way, but must be listed', () => {
  const known = records([row(1), row(2)], { isLeaving: () => true })
  expect(compareAlbum([listed(1, { name: 'x' })], known)).toMatchObject({
    findings: [],
    inPlace: [],
    missing: [{ id: 2 }],
  })
})
