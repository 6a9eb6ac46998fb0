import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { placed, restoreFromHost } from '../../../src/daemon/restore/from-host.ts'
import type { RestoreEvent } from '../../../src/daemon/restore/restore.ts'
import { png } from '../../pictures.ts'
import { json, serve } from '../../remote/serve.ts'
import { tempFolder } from '../../temp-folder.ts'
import { treeOf } from '../recorded-pictures.ts'

const NEVER = { stop: new AbortController().signal, cut: new AbortController().signal }

interface HostImage {
  id: string
  name?: string
  time?: string
  size?: string
  width?: number
  height?: number
  /** What its address delivers. Left out: the picture. */
  delivered?: string | Buffer
}

const { bytes } = png(3, 2)
const album = (id: string, name: string) => ({ id, name })

/** Restores from a host with these albums, each with its images and the albums in it, by id; '' is the root. */
async function restored(
  albums: Record<string, { albums?: { id: string; name: string }[]; images?: HostImage[] }>,
  base: string | undefined = '/cdn',
) {
  const imageOf = (id: string) =>
    Object.values(albums)
      .flatMap(({ images = [] }) => images)
      .find(image => image.id === id)
  const asked: string[] = []
  const origin = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    if (pathname.startsWith('/cdn/i/')) {
      const id = decodeURIComponent(pathname.slice(7))
      asked.push(id)
      return void response.end(imageOf(id)?.delivered ?? bytes)
    }
    const here = albums[searchParams.get('album_id') ?? '']!
    const shown = (here.images ?? []).map(({ delivered: _, ...image }) => image)
    const pagination = { page: 1, per_page: 20, total_pages: 1, total_images: shown.length }
    const data = { albums: here.albums ?? [], images: shown, pagination, cdn_base_url: base }
    json(response, 200, { success: true, data })
  })
  const home = tempFolder()
  mkdirSync(join(home, 'pictures'))
  const file = join(home, 'albumd.yaml')
  const host = { base_url: `${origin}/api/v1` }
  writeFileSync(
    file,
    JSON.stringify({ host, mirrors: [{ folder: 'pictures', album: 'P' }], state_dir: 'state' }),
  )
  const back = join(home, 'back')
  const events: RestoreEvent[] = []
  const again = () =>
    restoreFromHost(
      loadConfig(file, {}),
      back,
      { apiKey: 'k', ca: null, store: null },
      event => events.push(event),
      NEVER,
      () => {},
    )
  return { report: await again(), back, events, again, asked }
}

test('each image comes into the folder of its album, and names that can be no file names are changed', async () => {
  const { report, back } = await restored({
    '': { albums: [album('1', 'Top'), album('2', '..')], images: [{ id: 'r', name: 'root.png' }] },
    '1': { albums: [album('3', 'a/b')], images: [{ id: 'x', name: '../../etc/passwd' }] },
    '2': { images: [{ id: 'y', name: 'y.png' }] },
    '3': { images: [{ id: 'z' }] },
  })
  expect(report).toMatchObject({ restored: 4, missing: 0, unproved: 4, stopped: null })
  expect(Object.keys(treeOf(back)).sort()).toEqual([
    'Top/.._.._etc_passwd',
    'Top/a_b/_',
    '_../y.png',
    'root.png',
  ])
  expect(readFileSync(join(back, 'root.png'))).toEqual(bytes)
})

test('images of one name, and twin albums, lose nothing', async () => {
  const twins = [album('1', 'A'), album('2', 'A'), album('3', 'same.png')]
  const image = (id: string) => ({ id, name: 'same.png' })
  const { report, back } = await restored({
    '': { albums: twins, images: [image('r')] },
    '1': { images: [image('b'), image('c')] },
    '2': { images: [image('a')] },
    '3': { images: [image('d')] },
  })
  expect(report).toMatchObject({ restored: 5, missing: 0 })
  expect(Object.keys(treeOf(back)).sort()).toEqual([
    'A/same (a).png',
    'A/same (b).png',
    'A/same.png',
    'same (r).png',
    'same.png/same.png',
  ])
})

test('of images of one name the newest gets the name, and what is there keeps its name in the next run', async () => {
  const image = (id: string, time: string, delivered = png(3, 2).bytes) => ({
    id,
    name: 'k.png',
    time,
    delivered,
  })
  const images: HostImage[] = [
    image('a', '2026-03-01T12:00:00+00:00', png(4, 4).bytes),
    // This one is the newest, by its offset.
    image('b', '2026-03-01T11:30:00-02:00', png(5, 5).bytes),
    image('c', 'yesterday', png(6, 6).bytes),
    { id: 'd', name: 'late.png', delivered: '<html>' },
  ]
  const { report, back, again, asked } = await restored({ '': { images } })
  expect(report).toMatchObject({ restored: 3, missing: 1 })
  const shown = () => {
    const names = Object.keys(treeOf(back)).filter(name => !name.startsWith('.'))
    return Object.fromEntries(names.map(name => [name, readFileSync(join(back, name)).readUInt32BE(16)]))
  }
  const first = { 'k.png': 5, 'k (a).png': 4, 'k (c).png': 6 }
  expect(shown()).toEqual(first)

  // Before the second run the newest is deleted, and a still newer one is uploaded.
  images.splice(1, 1)
  images.push(image('e', '2026-04-01T12:00:00+00:00', png(7, 7).bytes))
  delete images.find(({ id }) => id === 'd')!.delivered
  asked.length = 0
  expect(await again()).toMatchObject({ restored: 2, there: 2, missing: 0 })
  expect(asked.sort()).toEqual(['d', 'e'])
  expect(shown()).toEqual({ ...first, 'k (e).png': 7, 'late.png': 3 })
})

test('images whose paths would meet, on some disks too, and names that are too long lose nothing', async () => {
  const image = (id: string, name: string) => ({ id, name })
  const long = `${'x'.repeat(249)}.png`
  const { report, back, events } = await restored({
    '': {
      albums: [album('1', '\u7167'.repeat(100))],
      images: [
        image('1', 'a.png'),
        image('2', 'a (1).png'),
        image('3', 'a.png'),
        image('4', 'A.png'),
        image('5', long),
        image('6', long),
        image('7', `${'y'.repeat(300)}.png`),
        image('9', '\u00e9.png'),
        image('10', 'e\u0301.png'),
      ],
    },
    '1': { images: [image('8', 'a.png')] },
  })
  expect(report).toMatchObject({ restored: 10, missing: 0 })
  expect(Object.keys(treeOf(back)).sort()).toEqual([
    'A.png',
    'a (1).png',
    'a 2 (1).png',
    'a.png',
    'e\u0301 (10).png',
    `${'x'.repeat(247)} (5).png`,
    long,
    `${'y'.repeat(251)}.png`,
    '\u00e9.png',
    `${'\u7167'.repeat(85)}/a.png`,
  ])
  expect(events.flatMap(event => ('to' in event ? [`${event.path} ${event.to}`] : []))).toContain(
    'a.png a 2 (1).png',
  )
})

test('a disk that takes names for one which differ in case or accent alone has other names, and they are told', () => {
  const images = ['a.png', 'A.png', 'e\u0301.png', '\u00e9.png'].map((name, n) => ({
    id: `${n}`,
    name,
    album: null,
  }))
  const found = { albums: [], images } as unknown as Parameters<typeof placed>[0]
  expect(placed(found, new Map(), path => path.normalize().toLowerCase()).renamed).toEqual([
    { path: 'e\u0301.png', to: 'e\u0301 (2).png' },
    { path: 'a.png', to: 'a (0).png' },
  ])
  expect(placed(found, new Map(), path => path).renamed).toEqual([])
})

test('what is delivered must fit the listing, and the next run tries what is missing once more', async () => {
  const fitting = { name: 'a.png', size: `${bytes.length} B`, width: 3, height: 2 }
  const images: HostImage[] = [
    { id: '1', ...fitting },
    { id: '2', ...fitting, name: 'longer.png', delivered: Buffer.concat([bytes, bytes]) },
    { id: '3', ...fitting, name: 'other.png', size: undefined!, delivered: png(9, 9).bytes },
    { id: '4', name: 'page.png', delivered: '<html>' },
  ]
  const { report, events, again, back } = await restored({ '': { images } })
  expect(report).toMatchObject({ restored: 1, missing: 3 })
  const missing = events.filter(event => event.event === 'picture_missing')
  expect(missing.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
    'longer.png OTHER_BYTES',
    'other.png OTHER_BYTES',
    'page.png OTHER_BYTES',
  ])
  for (const image of images) delete image.delivered
  expect(await again()).toMatchObject({ restored: 3, there: 1, missing: 0 })
  expect(Object.keys(treeOf(back))).toHaveLength(4)
})

test('what a host delivers smaller than it lists is had where it is whole and has this shape, and is told', async () => {
  const listed = { size: '4.2 KB', width: 30, height: 20, time: '2026-11-20T10:00:00Z' }
  const small = png(15, 10).bytes
  const images: HostImage[] = [
    { id: '1', ...listed, name: 'encoded.png', delivered: png(30, 20).bytes },
    { id: '2', ...listed, name: 'shrunk.png', delivered: small },
    { id: '3', ...listed, name: 'cut.png', delivered: small.subarray(0, -9) },
    { id: '4', ...listed, name: 'other.png', delivered: png(10, 10).bytes },
    { id: '5', ...listed, name: 'page.png', delivered: '<html>' },
  ]
  const { report, events, again, back } = await restored({ '': { images } })
  expect(report).toMatchObject({ restored: 2, encoded: 2, unproved: 2, missing: 3 })
  const missing = events.filter(event => event.event === 'picture_missing')
  expect(missing.map(({ path }) => path).sort()).toEqual(['cut.png', 'other.png', 'page.png'])
  expect(readFileSync(join(back, 'shrunk.png'))).toEqual(small)
  expect(await again()).toMatchObject({ restored: 0, there: 2, encoded: 2, missing: 3 })
})

test('a host that names no delivery base gives nothing, and each image says so', async () => {
  const { report, events } = await restored({ '': { images: [{ id: '1', name: 'a.png' }] } }, '')
  expect(report).toMatchObject({ restored: 0, missing: 1 })
  expect(events.at(-1)).toMatchObject({ event: 'picture_missing', code: 'NO_ADDRESS' })
})
