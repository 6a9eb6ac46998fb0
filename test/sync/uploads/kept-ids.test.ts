import { expect, it } from 'vitest'
import { HOUR_MS, systemClock } from '../../../src/protocol/clock.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import { whyImageStays } from '../../../src/sync/deletions/send-delete.ts'
import { codeOf } from '../../../src/words/reasons.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { clientOf } from '../../remote/client-of.ts'
import { bodyOf, EMPTY_PAGE, failure, json, serve } from '../../remote/serve.ts'
import { deleted, green, openWith, red, summary } from '../workshop.ts'

/** A host that puts a picture into the image of its name that is there, under the id of that one. It delivers what `made` makes
 * of pictures. */
async function keepingIds(
  addressOf: (id: string) => string,
  made: (bytes: Buffer) => Buffer | null = bytes => bytes,
) {
  const images = new Map<string, { name: string; bytes: Buffer }>()
  const told = { images, sent: 0, losesAnswers: false, saysLittle: false, albums: [] as object[] }
  const names: string[] = []
  const deliveredAt = (address: string | undefined) => {
    const image = [...images].find(([id]) => addressOf(id) === address)?.[1]
    return image ? made(image.bytes) : null
  }
  const stored = (number: number, sent: Buffer) => {
    const name = names[number]!
    const id = [...images].find(([, image]) => image.name === name)?.[0] ?? `image-${number}-of-this-host`
    images.set(id, { name, bytes: sent })
    return told.saysLittle ? {} : { image_id: id, cdn_url: `${origin}/i/${addressOf(id)}` }
  }
  const origin = await serve(async (request, response) => {
    const url = new URL(request.url!, origin)
    const [, top, what] = url.pathname.split('/')
    const bytes = await bodyOf(request)
    if (top === 'i') {
      const delivered = deliveredAt(what)
      return delivered ? void response.end(delivered) : failure(response, 404, 'NOT_FOUND')
    }
    if (top === 'node') {
      told.sent++
      const start = bytes.indexOf('\r\n\r\n') + 4
      const answer = stored(Number(what), bytes.subarray(start, bytes.lastIndexOf('\r\n--')))
      if (told.losesAnswers) return void response.destroy()
      return json(response, 200, { success: true, ...answer })
    }
    const data = (answer: object) => json(response, 200, { success: true, data: answer })
    if (url.pathname.endsWith('/upload')) {
      const number = names.push(JSON.parse(bytes.toString()).file_name) - 1
      const cdn_url = `${origin}/i/${addressOf(`image-${number}-of-this-host`)}`
      return data({ upload_url: `${origin}/node/${number}`, cdn_url })
    }
    if (url.pathname.endsWith('/create_album')) {
      const album = { id: 'photos', name: 'Photos', depth: 1, created_at: '2026-11-29T10:00:00+08:00' }
      told.albums = [{ ...album, image_count: 0, sub_count: 0 }]
      return data({ album })
    }
    if (url.pathname.endsWith('/delete')) {
      images.delete(url.searchParams.get('img')!)
      return json(response, 200, { success: true, message: 'It is gone.' })
    }
    if (!url.searchParams.has('album_id')) return data({ ...EMPTY_PAGE, albums: told.albums })
    const time = '2026-11-29T10:00:00+08:00'
    const listed = [...images].map(([id, image]) => ({
      id,
      name: image.name,
      size: `${image.bytes.length} B`,
      width: 3,
      height: 2,
      time,
    }))
    const pagination = { page: 1, per_page: 20, total_pages: 1, total_images: listed.length }
    return data({ ...EMPTY_PAGE, images: listed, pagination })
  })
  const host = clientOf(origin, { requestsPerSecond: UNLIMITED, patience: { attempts: 2, maxDelayMs: 10 } })
  return { host, told }
}

it.each([false, true])(
  'a new version that keeps the id of the old one is recorded, and never deleted (answer lost: %s)',
  async losesAnswers => {
    const workshop = await openWith({ 'red.png': red, 'blue.png': png(3, 2, 30).bytes })
    const { host, told } = await keepingIds(id => id)
    expect(await workshop.pass({ host })).toEqual({ stopped: [] })
    told.losesAnswers = losesAnswers
    workshop.write('red.png', green)
    await workshop.pass({ host })
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({
      synced: 2,
      uncertain: 0,
      pending_uploads: 0,
      pending_deletions: 0,
    })
    expect([told.sent, deleted(workshop)]).toEqual([3, 0])
    const ofRed = [...told.images.values()].filter(({ name }) => name === 'red.png')
    expect(ofRed.map(({ bytes }) => bytes.equals(green))).toEqual([true])
    // Its next version replaces it once more.
    told.losesAnswers = false
    workshop.write('red.png', red)
    expect(await workshop.pass({ host })).toEqual({ stopped: [] })
    expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 0, pending_deletions: 0 })
    workshop.remove('red.png')
    await workshop.pass({ host })
    expect([told.images.size, deleted(workshop)]).toEqual([1, 1])
  },
)

it.each([
  [
    'encodes pictures anew, and delivers neither',
    (bytes: Buffer) => png(3, 2, 100 + (bytes.at(-20)! % 100)).bytes,
  ],
  ['delivers nothing', () => null],
])('a new version is sent once where the host %s', async (_, made) => {
  const workshop = await openWith({ 'red.png': red })
  const { host, told } = await keepingIds(id => id, made)
  await workshop.pass({ host })
  for (const version of [green, red]) {
    workshop.write('red.png', version)
    for (let passes = 0; passes < 3; passes++) await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 0, pending_deletions: 0 })
  }
  expect([told.sent, deleted(workshop), told.images.size]).toEqual([3, 0, 1])
})

it.each([
  ['nobody can tell', (bytes: Buffer) => png(3, 2, 100 + (bytes.at(-20)! % 100)).bytes],
  ['the host delivers the other version', (bytes: Buffer) => bytes],
])(
  'a picture that was as before again while albumd was off does not count as there where %s',
  async (_, made) => {
    const workshop = await openWith({ 'red.png': red })
    const { host, told } = await keepingIds(id => id, made)
    await workshop.pass({ host })
    told.losesAnswers = true
    workshop.write('red.png', green)
    await workshop.pass({ host })
    told.losesAnswers = false
    workshop.write('red.png', red)
    const monotonic = () => systemClock.monotonic() + HOUR_MS
    const later = { host, clock: { ...systemClock, monotonic } }
    await workshop.pass(later)
    await workshop.pass(later)
    const { synced, failed } = summary(workshop)
    const holdsRed = [...told.images.values()].map(({ bytes }) => bytes.equals(red))
    expect([synced, failed, holdsRed]).toEqual(told.sent === 3 ? [1, 0, [true]] : [0, 1, [false]])
  },
)

it.each([
  ['into its own image, which is linked', 'its own', 0, 1],
  ['into an image of its name without a record, which is linked', 'another', 0, 1],
  ['nowhere, and it stays in doubt', 'none', 1, 0],
])('what the host says it has taken, and delivers nowhere, is sent once: %s', async (_, into, ...ends) => {
  const workshop = await openWith({ 'red.png': red })
  const { host, told } = await keepingIds(
    id => id,
    () => null,
  )
  await workshop.pass({ host })
  told.saysLittle = true
  if (into === 'another') told.images.set('of-a-lost-state', { name: 'new.png', bytes: red })
  workshop.write(into === 'another' ? 'new.png' : 'red.png', png(3, 2, 50).bytes)
  await workshop.pass({ host })
  expect(summary(workshop)).toMatchObject({ uncertain: 1 })
  if (into === 'none') told.images.clear()
  for (let hours = 1; hours < 5; hours++) {
    const monotonic = () => systemClock.monotonic() + hours * HOUR_MS
    await workshop.pass({ host, clock: { ...systemClock, monotonic } })
  }
  const { uncertain, linked } = summary(workshop)
  expect([uncertain, linked, told.sent, deleted(workshop)]).toEqual([...ends, 2, 0])
})

it('a host is known to keep versions apart once an older one was deleted beside the newer one', async () => {
  const workshop = await openWith({ 'red.png': red })
  await workshop.pass()
  expect(workshop.synced.meta.get('versions_apart')).toBeNull()
  workshop.write('red.png', green)
  await workshop.pass()
  await workshop.pass()
  expect([deleted(workshop), workshop.synced.meta.get('versions_apart')]).toEqual([1, true])
})

it('a picture that is as before again is sent anew where an upload without an answer has replaced it', async () => {
  const workshop = await openWith({ 'red.png': red })
  const { host, told } = await keepingIds(
    id => id,
    () => null,
  )
  await workshop.pass({ host })
  told.losesAnswers = true
  workshop.write('red.png', png(30, 20, 5).bytes)
  await workshop.pass({ host })
  told.losesAnswers = false
  workshop.write('red.png', red)
  await workshop.pass({ host })
  const monotonic = () => systemClock.monotonic() + HOUR_MS
  const later = { host, clock: { ...systemClock, monotonic } }
  await workshop.pass(later)
  await workshop.pass(later)
  expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 0, pending_deletions: 0 })
  expect([...told.images.values()].map(({ bytes }) => bytes.equals(red))).toEqual([true])
  expect([told.sent, deleted(workshop)]).toEqual([3, 0])
})

it('an image stays while an upload in doubt may have put another version into it', async () => {
  const workshop = await openWith({ 'green.png': green, 'red.png': red })
  const { host, told } = await keepingIds(
    id => id,
    () => null,
  )
  await workshop.pass({ host })
  told.losesAnswers = true
  workshop.write('red.png', png(30, 20, 5).bytes)
  await workshop.pass({ host })
  workshop.remove('red.png')
  await workshop.pass({ host })
  const { files, images } = workshop.synced
  const image = images.byId(files.inState('gone')[0]!.image!)!
  expect(codeOf(whyImageStays({ synced: workshop.synced, claims: ALONE }, image, null)!)).toBe('version_open')
  expect(deleted(workshop)).toBe(0)
})
