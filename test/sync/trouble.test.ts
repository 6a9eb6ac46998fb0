import { describe, expect, it } from 'vitest'
import type { ImageHost } from '../../src/remote/host.ts'
import { hostWith } from '../../src/remote/host-with.ts'
import { keepImages } from '../../src/sync/keep-images.ts'
import { png } from '../pictures.ts'
import { ALLOWANCE, failure, openWorkshop, type Workshop } from './workshop.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes
const blue = png(3, 2, 30).bytes

async function imagesOn({ host }: Workshop): Promise<string[]> {
  const names: string[] = []
  const never = new AbortController().signal
  const walk = async (album: string | null): Promise<void> => {
    const page = await host.list(album, 1, never)
    if (!page.ok) throw new Error(page.failure.message)
    for (const image of page.value.images) names.push(image.name ?? image.id)
    for (const { id } of page.value.albums) await walk(id)
  }
  await walk(null)
  return names.sort()
}

const summary = ({ synced }: Workshop) => synced.summaries.mirror(1)
const count = ({ events }: Workshop, event: string) => events.filter(told => told.event === event).length

/** Many small pictures, no two alike. */
function plant(workshop: Workshop, pictures: number): void {
  for (let n = 0; n < pictures; n++) workshop.write(`${n}.png`, png(2, 2 + n).bytes)
}

describe('a deletion whose answer was lost', () => {
  const losing = (host: ImageHost) =>
    hostWith(host, {
      async deleteImage(...args) {
        await host.deleteImage(...args)
        return failure('later', 'HOST_UNREACHABLE', 'delete')
      },
    })

  it('is repeated, and finds nothing', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    workshop.write('green.png', green)
    await workshop.pass()
    workshop.remove('red.png')
    await workshop.pass({ host: losing(workshop.host) })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 1 })
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ files: 1, synced: 1, pending_deletions: 0 })
    expect(workshop.synced.journal.open()).toEqual([])
  })

  it('does not let a picture that comes back rely on its image', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    workshop.write('green.png', green)
    await workshop.pass()
    workshop.remove('red.png')
    await workshop.pass({ host: losing(workshop.host) })
    workshop.write('red.png', red)
    await workshop.pass()
    await workshop.pass()
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    expect(workshop.synced.journal.open()).toEqual([])
  })
})

describe('a mirror that becomes a backup', () => {
  it('keeps what was about to be given up', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    workshop.write('green.png', green)
    await workshop.pass()
    workshop.remove('red.png')
    await workshop.pass({ graceMs: 1000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 1 })
    workshop.mirror.deletions = 'keep'
    await workshop.pass({ running: () => 5000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 0 })
    workshop.mirror.deletions = 'propagate'
    await workshop.pass({ running: () => 9000 })
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
  })
})

describe('an image that is kept for good', () => {
  it.each(['in a backup that becomes a mirror', 'by a word'])(
    'stays where another picture takes its name, and is found again by its own bytes: %s',
    async how => {
      const workshop = await openWorkshop({ deletions: how === 'by a word' ? 'propagate' : 'keep' })
      workshop.write('red.png', red)
      workshop.write('green.png', green)
      await workshop.pass()
      workshop.remove('red.png')
      await workshop.pass({ graceMs: 1000 })
      const [given] = workshop.synced.escrow.ofMirror(1)
      if (given) keepImages(workshop.synced, [given.image], 0)
      workshop.mirror.deletions = 'propagate'
      workshop.write('red.png', png(9, 9).bytes)
      await workshop.pass({ running: () => 5000 })
      await workshop.pass({ running: () => 9000 })
      expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png', 'red.png'])
      workshop.write('red.png', red)
      await workshop.pass({ running: () => 15_000 })
      await workshop.pass({ running: () => 19_000 })
      expect(count(workshop, 'picture_uploaded')).toBe(3)
      expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
      expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    },
  )
})

describe('images under doubt', () => {
  it('that two paths share stay when one of them is back before the deletion', async () => {
    const workshop = await openWorkshop()
    workshop.write('one.png', red)
    workshop.write('two.png', red)
    workshop.write('green.png', green)
    let first: Awaited<ReturnType<ImageHost['send']>> | undefined
    const sameId = hostWith(workshop.host, {
      async send(credential, picture, signal) {
        if (picture.fileName === 'green.png') return workshop.host.send(credential, picture, signal)
        first ??= await workshop.host.send(credential, picture, signal)
        return first
      },
    })
    await workshop.pass({ host: sameId, concurrency: 1 })
    workshop.remove('one.png')
    workshop.remove('two.png')
    // Both are gone for the scan; one is back when the deletion is about to be sent.
    const grace = await workshop.pass({ graceMs: 10 })
    expect(grace.stopped).toEqual([])
    const { realDisk } = await import('../../src/local/real-disk.ts')
    const lookAt = () => async (batch: { path: string }[]) =>
      batch.map(({ path }) => ({ path, kind: 'same' as const }))
    workshop.write('two.png', red)
    await workshop.pass({ disk: realDisk, lookAt, running: () => 1000 })
    expect(count(workshop, 'image_deleted')).toBe(0)
  })

  it('go one by one: one that the host will not delete does not keep the others', async () => {
    const workshop = await openWorkshop()
    for (const [name, bytes] of [
      ['a.png', red],
      ['b.png', green],
      ['c.png', blue],
    ] as const)
      workshop.write(name, bytes)
    await workshop.pass()
    workshop.remove('a.png')
    workshop.remove('b.png')
    let asked = 0
    const host = hostWith(workshop.host, {
      async deleteImage(...args) {
        return asked++ === 0
          ? failure('later', 'DELETE_FAILED', 'delete', { status: 500 })
          : workshop.host.deleteImage(...args)
      },
    })
    await workshop.pass({ host })
    await workshop.pass({ host })
    expect(asked).toBe(2)
    expect(await imagesOn(workshop)).toEqual(['a.png', 'c.png'])
    await workshop.pass({ host, running: () => 2 * 3_600_000 })
    expect(await imagesOn(workshop)).toEqual(['c.png'])
  })

  it('are not kept by a file of their size that will never be a picture', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    workshop.write('green.png', green)
    workshop.write('broken.png', Buffer.alloc(red.length, 1))
    await workshop.pass()
    workshop.remove('red.png')
    await workshop.pass()
    expect(await imagesOn(workshop)).toEqual(['green.png'])
  })

  it('of a picture that was deleted and written anew within the grace go when the new one is there', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    workshop.write('green.png', green)
    await workshop.pass()
    workshop.remove('red.png')
    await workshop.pass({ graceMs: 1000 })
    workshop.write('red.png', png(9, 9).bytes)
    await workshop.pass({ running: () => 5000 })
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
  })
})

const allowance = { ...ALLOWANCE, probeEveryMs: 15 * 60_000 }

describe('trouble at the host', () => {
  it('that leaves outcomes unknown ends the uploads after a few, and says which they are', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 30)
    const host = hostWith(workshop.host, {
      send: async () => failure('find_out', 'HOST_ANSWER', 'send', { status: 502 }),
    })
    const { stopped } = await workshop.pass({ host, concurrency: 2 })
    expect(stopped).toMatchObject([{ code: 'HOST_ANSWER' }])
    const { uncertain, pending_uploads, failed } = summary(workshop)
    expect(uncertain).toBeLessThanOrEqual(4)
    expect(uncertain + pending_uploads).toBe(30)
    expect(failed).toBe(0)
    expect(workshop.synced.summaries.failures(99)[0]).toMatchObject({ code: 'UNCERTAIN' })
  })

  it.each([
    ['a redirect', failure('change_request', 'HOST_REDIRECT', 'upload', { status: 302 })],
    ['an address that can not be used', failure('change_request', 'HOST_ADDRESS', 'upload')],
    ['a key that is refused', failure('key', 'INVALID_API_KEY', 'upload', { status: 401 })],
  ])('such as %s is no fault of the pictures', async (_, answer) => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    const { stopped } = await workshop.pass({
      host: hostWith(workshop.host, { requestUpload: async () => answer }),
    })
    expect(stopped).toHaveLength(1)
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 10 })
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 10 })
  })

  it('that answers the id of another picture is not believed', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    await workshop.pass()
    const { remote_id, cdn_url } = workshop.synced.images.latest()!
    workshop.write('green.png', green)
    const host = hostWith(workshop.host, {
      send: async () => ({ ok: true, value: { imageId: remote_id, cdnUrl: cdn_url! } }),
    })
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 1 })
  })

  it('that says the quota is used up is believed until the next probe, and one picture asks then', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    let asked = 0
    let taken = false
    const host = hostWith(workshop.host, {
      async requestUpload(...args) {
        asked++
        return taken
          ? workshop.host.requestUpload(...args)
          : failure('quota', 'DAILY_LIMIT_REACHED', 'upload', { status: 429 })
      },
    })
    const at = (minutes: number) => {
      const wall = () => Date.parse('2026-11-21T10:00:00Z') + minutes * 60_000
      return workshop.pass({ host, allowance, clock: { ...clock, wall } })
    }
    const { systemClock: clock } = await import('../../src/sync/clock.ts')
    await at(0)
    const first = asked
    expect(first).toBeLessThanOrEqual(4)
    for (const minutes of [1, 5, 9, 14]) await at(minutes)
    expect(asked).toBe(first)
    await at(16)
    expect(asked).toBe(first + 1)
    taken = true
    await at(20)
    expect(asked).toBe(first + 1)
    await at(32)
    expect(summary(workshop)).toMatchObject({ synced: 10 })
  })

  it('that the plan shuts an endpoint is asked about again after probe_every, and its beginning is kept', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    const unblocked: string[] = []
    const block = { endpoint: 'upload', remedy: 'plan', code: 'PLAN_NOT_SUPPORTED', message: 'no' } as const
    const host = hostWith(workshop.host, {
      blocks: () => [{ ...block, since: 0 }],
      unblock: endpoint => unblocked.push(endpoint),
      requestUpload: async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'upload', { status: 403 }),
    })
    const { systemClock: clock } = await import('../../src/sync/clock.ts')
    const at = (minutes: number) => {
      const wall = () => Date.parse('2026-11-21T10:00:00Z') + minutes * 60_000
      const monotonic = () => minutes * 60_000
      return workshop.pass({ host, allowance, clock: { ...clock, wall, monotonic } })
    }
    await at(0)
    unblocked.length = 0
    const [first] = workshop.synced.account.blocks()
    await at(14)
    expect(unblocked).toEqual([])
    await at(16)
    expect(unblocked).toEqual(['upload'])
    expect(workshop.synced.account.blocks()).toMatchObject([{ since: first!.since }])
  })
})

describe('failures', () => {
  it('of a look and of an upload stand beside each other', async () => {
    const workshop = await openWorkshop()
    workshop.write('broken.png', 'no picture')
    await workshop.pass()
    const folder = workshop.synced.folders.at(1, '')!.id
    workshop.synced.failures.put({
      folder,
      name: 'broken.png',
      source: 'look',
      code: 'UNREADABLE',
      message: 'm',
      next_attempt_at: null,
    })
    workshop.synced.failures.clearLook(folder)
    expect(workshop.synced.summaries.failures(9)).toMatchObject([
      { path: 'broken.png', code: 'NOT_A_PICTURE' },
    ])
  })
})
