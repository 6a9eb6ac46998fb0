import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { garbled } from '../../../src/remote/failures.ts'
import { type Credential, hostWith, type ImageHost, type PictureBody } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { because } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { countingMore, listingWith } from '../album-stage.ts'
import {
  counting,
  failure,
  green,
  imagesOn,
  openWith,
  openWorkshop,
  red,
  summary,
  unaddressed,
  unreachable,
  type Workshop,
  workshopWith,
} from '../workshop.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
const lost = failure('find_out', 'HOST_ANSWER', 'send')
const notInPlan = failure('plan', 'PLAN_NOT_SUPPORTED', 'list')

describe('an upload whose answer was lost', () => {
  it.each([
    ['at its delivery address', true, {}],
    [
      'in the listing once its credential has ended, where no address answers',
      true,
      { fetchDelivered: unreachable },
    ],
    ['by its address alone, before any other upload was acknowledged', false, {}],
  ])('is found for ours %s, and not sent again', async (_, isTaught, changes) => {
    const workshop = await openWorkshop()
    if (isTaught) await acknowledgeOne(workshop)
    workshop.write('red.png', red)
    await workshop.pass({ host: losing(workshop, changes) })
    if ('fetchDelivered' in changes) {
      expect(summary(workshop)).toMatchObject({ uncertain: 1 })
      await workshop.pass({ host: losing(workshop, changes), ...later })
    }
    expect(summary(workshop)).toMatchObject({ synced: isTaught ? 2 : 1, linked: 0, uncertain: 0 })
    expect(workshop.synced.journal.open()).toEqual([])
    expect(await imagesOn(workshop)).toEqual(isTaught ? ['first.png', 'red.png'] : ['red.png'])
    expect(imageOf(workshop, 'red.png')).toMatchObject({ proof: 'uploaded' })
  })

  it('is left alone, then linked by its name and dimensions after its credential has ended, where no address is known', async () => {
    const workshop = await openWith({ 'red.png': red })
    await workshop.pass({ host: losing(workshop, unaddressed(workshop.host)) })
    expect(summary(workshop)).toMatchObject({ uncertain: 1, synced: 0, failed: 0 })
    const sent: string[] = []
    const host = hostWith(counting(workshop.host, sent), { fetchDelivered: unreachable })
    await workshop.pass({ host })
    expect(workshop.synced.journal.open()).toHaveLength(1)
    await workshop.pass({ ...later, host })
    expect(sent).toEqual([])
    expect(summary(workshop)).toMatchObject({ linked: 1, uncertain: 0 })
    expect(await imagesOn(workshop)).toEqual(['red.png'])
  })

  it('and that a process left open is told in the history when the next process finds it', async () => {
    const workshop = await openWith({ 'red.png': red })
    const dying = hostWith(workshop.host, {
      send: async () => {
        throw new Error('killed')
      },
    })
    await expect(workshop.pass({ host: dying })).rejects.toThrow('killed')
    const now = systemClock.wall() + 60_000
    await workshop.pass({
      clock: { ...systemClock, wall: () => now },
      host: hostWith(workshop.host, { fetchDelivered: unreachable }),
    })
    const history = workshop.synced.history.of({ mirror: 1, path: 'red.png' })
    const doubt = history.find(({ event }) => event === 'uncertain')!
    expect(doubt).toMatchObject({ at: now })
    // The process may have ended, or it went on and could not record the answer.
    expect(doubt.detail).toBe(because('cut_off'))
    expect(history.map(({ at }) => at)).toEqual(history.map(({ at }) => at).sort((a, b) => a - b))
  })

  it('is not looked for by a pass that names other pictures, unless a deletion waits for its bytes', async () => {
    const workshop = await workshopWith({ 'old/red.png': red, 'other/green.png': green })
    const { pictures, synced, remove, write } = workshop
    write('a/new.png', png(5, 5).bytes)
    write('b/red.png', red)
    const albums: (string | undefined)[] = []
    const host = hostWith(losing(workshop, { fetchDelivered: unreachable }), {
      list: async (album, page, signal) => {
        albums.push(synced.albums.all().find(({ remote_id }) => remote_id === album)?.name)
        return workshop.host.list(album, page, signal)
      },
    })
    // Both are under way before the answer of either is lost, and then the host lists nothing.
    const both = Promise.withResolvers<void>()
    let sending = 0
    const away: Partial<ImageHost> = {
      send: async (credential, picture, signal) => {
        if (++sending === 2) both.resolve()
        await both.promise
        return host.send(credential, picture, signal)
      },
      list: async (album, page, signal) =>
        sending < 2 ? workshop.host.list(album, page, signal) : failure('later', 'HOST_UNREACHABLE', 'list'),
    }
    await workshop.pass({ host: hostWith(host, away) })
    const open = () => synced.journal.openUploads().map(({ name }) => name)
    expect(open().toSorted()).toEqual(['new.png', 'red.png'])
    const named = new Set([join(pictures, 'other')])
    const pass = () => workshop.pass({ host, graceMs: 60_000 }, 'mirror', undefined, undefined, named)
    await pass()
    expect(open()).toHaveLength(2)
    expect(albums).toEqual([])
    remove('old/red.png')
    await workshop.pass({ host, graceMs: 60_000 }, 'look')
    await workshop.pass({ host, graceMs: 60_000, ...later }, 'mirror', undefined, undefined, named)
    expect(open()).toEqual(['new.png'])
    expect(albums).not.toContain('a')
  })

  it('that never arrived is sent again only after its credential has ended', async () => {
    const workshop = await openWith({ 'a/red.png': red })
    const sent: string[] = []
    await workshop.pass({ host: hostWith(workshop.host, { send: async () => lost }) })
    await workshop.pass({ host: counting(workshop.host, sent) })
    expect(sent).toEqual([])
    await workshop.pass({ ...later, host: counting(workshop.host, sent) })
    expect(sent).toEqual(['red.png'])
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 0 })
    expect(workshop.events).toContainEqual(expect.objectContaining({ ...foundOut, arrived: false }))
  })

  it("that a proxy's page has refused waits as after a refusal by the node, and is told so", async () => {
    const workshop = await openWith({ 'red.png': red })
    const page = because('not_of_interface', { where: 'n.example:443', status: 413 })
    let sent = 0
    const host = hostWith(workshop.host, {
      async send() {
        sent++
        return { ok: false, failure: garbled('send', 'all', 413, page) }
      },
    })
    let hours = 0
    const clock = {
      ...systemClock,
      wall: () => systemClock.wall() + hours * 3_600_000,
      monotonic: () => systemClock.monotonic() + hours * 3_600_000,
    }
    const sends: number[] = []
    for (hours = 0; hours < 60; hours += 0.5) {
      const before = sent
      await workshop.pass({ host, clock })
      if (sent > before) sends.push(hours)
      if (hours === 0) expect(summary(workshop)).toMatchObject({ uncertain: 1 })
      if (hours === 0.5) expect(summary(workshop)).toMatchObject({ uncertain: 0, failed: 1 })
    }
    // Half an hour passes until each of them is known not to have arrived. Then the picture waits for an hour, a day and a week.
    expect(sends).toEqual([0, 1.5, 26])
    const { message } = workshop.synced.failures.of(1, 'red.png')!
    expect(message).toEqual(because('refused_by_node', { why: page }))
    expect(await imagesOn(workshop)).toEqual([])
  })

  it('that never arrived is sent again after a day where the host always counts more than it lists', async () => {
    const workshop = await openWorkshop()
    await acknowledgeOne(workshop)
    workshop.write('red.png', red)
    const counted = hostWith(workshop.host, { list: countingMore(workshop.host) })
    await workshop.pass({ host: hostWith(counted, { send: async () => lost }) })
    const sent: string[] = []
    const passAfter = (hours: number) => {
      const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + hours * 3_600_000 }
      return workshop.pass({ clock, host: counting(counted, sent) })
    }
    await passAfter(1)
    await passAfter(23)
    expect(sent).toEqual([])
    expect(summary(workshop)).toMatchObject({ uncertain: 1 })
    await passAfter(25)
    expect(sent).toEqual(['red.png'])
    expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 0 })
  })

  it('that never arrived is sent again when a short-lived credential has ended, before a frequent look is due', async () => {
    const workshop = await openWorkshop()
    const credentialLifetimeMs = 1000
    workshop.write('red.png', red)
    const lose = hostWith(workshop.host, { send: async () => lost })
    await workshop.pass({ credentialLifetimeMs, host: lose })
    const sent: string[] = []
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 3000 }
    await workshop.pass({ credentialLifetimeMs, clock, host: counting(workshop.host, sent) })
    expect(sent).toEqual(['red.png'])
  })

  it('is linked to the image that came with it, where images are listed with other sizes', async () => {
    const workshop = await openWith({ 'red.png': red })
    const list = listingWith(workshop.host, page => ({
      ...page,
      images: page.images.map(image => ({ ...image, size: '9 MB' })),
    }))
    const changes = { ...unaddressed(workshop.host), list }
    await workshop.pass({ host: losing(workshop, changes) })
    await workshop.pass({ ...later, host: hostWith(workshop.host, changes) })
    expect(summary(workshop)).toMatchObject({ linked: 1, uncertain: 0 })
    expect(await imagesOn(workshop)).toEqual(['red.png'])
  })

  it('that never arrived is sent again beside an older image of its name and another size', async () => {
    const workshop = await openWith({ 'red.png': red })
    const older = { id: 'older-image', name: 'red.png', size: '9 MB', time: '2020-01-01T00:00:00Z' }
    const list = listingWith(workshop.host, (page, _, album) => {
      if (album === null) return page
      const images = [...page.images, older]
      return { ...page, images, pagination: { ...empty, total_pages: 1, total_images: images.length } }
    })
    const changes = { list, fetchDelivered: unreachable }
    await workshop.pass({ host: hostWith(workshop.host, { ...changes, send: async () => lost }) })
    expect(summary(workshop)).toMatchObject({ uncertain: 1 })
    await workshop.pass({ ...later, host: hostWith(workshop.host, changes) })
    expect(summary(workshop)).toMatchObject({ synced: 1, linked: 0 })
    expect(await imagesOn(workshop)).toEqual(['red.png'])
  })

  it('is not sent again on the word of one walk', async () => {
    const workshop = await openWith({ 'red.png': red })
    await workshop.pass({ host: losing(workshop, unaddressed(workshop.host)) })
    let walks = 0
    const list = listingWith(workshop.host, (page, _, album) =>
      album !== null && ++walks === 1 ? { ...page, images: [], pagination: empty } : page,
    )
    const sent: string[] = []
    const host = hostWith(counting(workshop.host, sent), { list, fetchDelivered: unreachable })
    await workshop.pass({ ...later, host })
    expect(sent).toEqual([])
    expect(summary(workshop)).toMatchObject({ linked: 1 })
  })

  it.each<[string, (host: ImageHost) => ImageHost['list'], object[]]>([
    [
      'where the listing is not whole',
      host => listingWith(host, page => ({ ...page, pagination: { ...empty, total_images: 3 } })),
      [],
    ],
    [
      'without a plan that lists',
      () => async () => notInPlan,
      [{ code: 'PLAN_NOT_SUPPORTED', endpoint: 'list' }],
    ],
  ])('is not sent again %s', async (_, listOf, stopped) => {
    const workshop = await openWith({ 'red.png': red })
    const sent: string[] = []
    const list = listOf(workshop.host)
    await workshop.pass({ host: hostWith(workshop.host, { list, send: async () => lost }) })
    const report = await workshop.pass({ ...later, host: hostWith(counting(workshop.host, sent), { list }) })
    expect(sent).toEqual([])
    expect(summary(workshop)).toMatchObject({ uncertain: 1 })
    expect(report.stopped).toMatchObject(stopped)
  })

  it('of a version that is gone meanwhile leaves an image to give up', async () => {
    const workshop = await openWorkshop()
    await acknowledgeOne(workshop)
    workshop.write('red.png', red)
    await workshop.pass({ host: losing(workshop, { fetchDelivered: unreachable, list: down }) })
    workshop.write('red.png', green)
    await workshop.pass()
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 0, pending_deletions: 0 })
    expect(await imagesOn(workshop)).toEqual(['first.png', 'red.png'])
    expect(imageOf(workshop, 'red.png').hash).toEqual(sha256(green))
  })

  it('of a file that is gone meanwhile leaves an image to give up', async () => {
    const workshop = await openWorkshop()
    await acknowledgeOne(workshop)
    workshop.write('sub/red.png', red)
    await workshop.pass({ host: losing(workshop, { fetchDelivered: unreachable, list: down }) })
    workshop.remove('sub')
    await workshop.pass()
    await workshop.pass()
    expect(workshop.synced.journal.open()).toEqual([])
    expect(await imagesOn(workshop)).toEqual(['first.png'])
  })
})

it('a host that puts a new version into the old image, with its id, has each version once, and none is deleted', async () => {
  const workshop = await workshopWith({ 'red.png': red })
  const { remote_id: imageId, cdn_url } = imageOf(workshop, 'red.png')
  const { host } = workshop
  let now = cdn_url!
  const overwriting = hostWith(host, {
    async send(...args) {
      const sent = await host.send(...args)
      if (!sent.ok) return sent
      now = sent.value.cdnUrl!
      return { ok: true, value: { imageId, cdnUrl: cdn_url } }
    },
    async requestUpload(...args) {
      const granted = await host.requestUpload(...args)
      return granted.ok ? { ok: true, value: { ...granted.value, cdnUrl: cdn_url } } : granted
    },
    fetchDelivered: (_, ...rest) => host.fetchDelivered(now, ...rest),
    async deleteImage() {
      throw new Error('nothing may be deleted')
    },
  })
  for (const version of [green, red]) {
    workshop.write('red.png', version)
    await workshop.pass({ host: overwriting })
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 0, pending_deletions: 0 })
    expect(imageOf(workshop, 'red.png')).toMatchObject({
      remote_id: imageId,
      hash: sha256(version),
    })
  }
})

it('an address that names the id of an image with another address tells no id', async () => {
  const workshop = await workshopWith({ 'red.png': red })
  const { remote_id, cdn_url } = imageOf(workshop, 'red.png')
  const { host } = workshop
  workshop.synced.commitNow(tx =>
    tx.images.prove({ ...imageOf(workshop, 'red.png'), cdn_url: 'https://a.example/' }),
  )
  await acknowledgeOne(workshop)
  workshop.write('green.png', green)
  const requestUpload: ImageHost['requestUpload'] = async (...args) => {
    const granted = await host.requestUpload(...args)
    return granted.ok ? { ok: true, value: { ...granted.value, cdnUrl: cdn_url } } : granted
  }
  const fetchDelivered: ImageHost['fetchDelivered'] = async () => ({
    ok: true,
    status: 200,
    size: green.byteLength,
    sha256: sha256(green),
  })
  const send = losing(workshop).send
  await workshop.pass({ host: hostWith(host, { requestUpload, send, fetchDelivered }) })
  expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 1 })
  expect(imageOf(workshop, 'red.png')).toMatchObject({
    remote_id,
    hash: sha256(red),
  })
})

/** What is told names the picture with its folder, and whose it is. */
const foundOut = { event: 'upload_found_out', mirror: expect.any(String), path: 'a/red.png', name: 'red.png' }

const empty = { page: 1, per_page: 20, total_pages: 0, total_images: 0 }
const down: ImageHost['list'] = async () => failure('later', 'HOST_UNREACHABLE', 'list')

/** A pass long after the last one. */
const later: Partial<EngineContext> = {
  clock: { ...systemClock, monotonic: () => systemClock.monotonic() + 3_600_000 },
}

/** Teaches how delivery addresses look. */
async function acknowledgeOne(workshop: Workshop): Promise<void> {
  workshop.write('first.png', png(9, 9, 9).bytes)
  await workshop.pass()
}

/** The host takes pictures, and its answers are lost. */
function losing({ host }: Workshop, changes: Partial<ImageHost> = {}): ImageHost {
  const send = async (credential: Credential, picture: PictureBody, signal: AbortSignal) => {
    await host.send(credential, picture, signal)
    return lost
  }
  return hostWith(host, { send, ...changes })
}

function imageOf({ synced }: Workshop, name: string) {
  const file = synced.files.at({ folder: 1, name })!
  return synced.images.byId(file.image!)!
}
