import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { openPicture } from '../../../src/local/picture-file.ts'
import { ownFailure, refused, tooSlow } from '../../../src/remote/failures.ts'
import { type Block, hostWith, type Outcome, PictureChanged } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { resultOfRefusal } from '../../../src/sync/uploads/upload-job.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import type { BlockRow } from '../../../src/synced/tables/account.ts'
import { because, inWords, type Reason, said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { contentOf } from '../album-stage.ts'
import {
  ALLOWANCE,
  count,
  failure,
  green,
  lookingAt,
  openWorkshop,
  red,
  summary,
  type Workshop,
  workshopWith,
} from '../workshop.ts'

/** Many small pictures, no two alike. */
function plant(workshop: Workshop, pictures: number): void {
  for (let n = 0; n < pictures; n++) workshop.write(`${n}.png`, png(2, 2 + n).bytes)
}

const outOfOrder = failure('later', 'INTERNAL', 'upload', { status: 500 })

/** The workshop with an upload node that refuses some pictures. */
function refusing(workshop: Workshop, code: string, status: number, takes: (name: string) => boolean) {
  const host = hostWith(workshop.host, {
    send: async (credential, picture, signal) =>
      takes(picture.fileName)
        ? workshop.host.send(credential, picture, signal)
        : { ok: false, failure: refused('send', status, { error: 'no', code }, []) },
  })
  const at = (minutes: number) => {
    const wall = () => Date.parse('2026-11-21T00:00:00Z') + minutes * 60_000
    const clock = { ...workshop.clock, wall, sleep: async () => {} }
    return workshop.pass({ host, allowance, concurrency: 1, clock })
  }
  return { at, used: () => workshop.synced.account.usedAfter('') }
}

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

  it('with one answer to step 1 fails one picture, and counts what may have been issued', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    const odd = failure('change_request', 'HOST_ADDRESS', 'upload', { issued: true })
    let asked = 0
    const host = hostWith(workshop.host, {
      requestUpload: async (request, signal) =>
        ++asked % 4 === 0 ? odd : workshop.host.requestUpload(request, signal),
    })
    const { stopped } = await workshop.pass({ host, concurrency: 1 })
    expect(stopped).toEqual([])
    expect(summary(workshop)).toMatchObject({ failed: 2, synced: 8 })
    expect(workshop.synced.account.usedAfter('')).toBe(10)
  })

  it('with a page of a firewall for one picture fails this picture, costs no quota and lets the others go', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    const page = failure('later', 'HOST_ANSWER', 'upload', { status: 403 })
    const host = hostWith(workshop.host, {
      requestUpload: async (request, signal) =>
        request.file_name === '7.png' ? page : workshop.host.requestUpload(request, signal),
    })
    const { stopped } = await workshop.pass({ host, concurrency: 1 })
    expect(stopped).toEqual([])
    expect(summary(workshop)).toMatchObject({ failed: 1, synced: 9 })
    expect(workshop.synced.account.usedAfter('')).toBe(9)
  })

  it.each([
    ['INTERNAL', 500],
    ['NO_AVAILABLE_IO_NODE', 503],
  ])(
    'at the upload node with %s (%i) is tried again at once, with another credential',
    async (code, status) => {
      const workshop = await openWorkshop()
      workshop.write('red.png', red)
      const credentials = new Set<string>()
      const host = hostWith(workshop.host, {
        async send(credential, picture, signal) {
          credentials.add(credential.uploadUrl)
          if (credentials.size > 2) return workshop.host.send(credential, picture, signal)
          return { ok: false, failure: refused('send', status, { error: 'no', code }, []) }
        },
      })
      const waits: number[] = []
      const sleep = async (ms: number) => void waits.push(ms)
      expect(await workshop.pass({ host, clock: { ...workshop.clock, sleep } })).toEqual({ stopped: [] })
      expect(credentials.size).toBe(3)
      expect(Math.max(...waits)).toBeLessThan(1000)
      expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
    },
  )

  it.each(['upload', 'send'] as const)(
    'that takes two uploads at a time fails no picture and costs little quota (refused at "%s")',
    async refusesAt => {
      const workshop = await openWorkshop()
      plant(workshop, 30)
      let [taken, refusals] = [0, 0]
      const isFull = (endpoint: 'upload' | 'send') => endpoint === refusesAt && taken >= 2 && ++refusals > 0
      const host = hostWith(workshop.host, {
        async requestUpload(request, signal) {
          if (!isFull('upload')) return workshop.host.requestUpload(request, signal)
          return failure('give_way', 'NO_AVAILABLE_IO_NODE', 'upload', { status: 503 })
        },
        async send(credential, picture, signal) {
          const why = { error: 'no', code: 'NO_AVAILABLE_IO_NODE' }
          if (isFull('send')) return { ok: false, failure: refused('send', 503, why, []) }
          taken++
          await setTimeout(2)
          const sent = await workshop.host.send(credential, picture, signal)
          taken--
          return sent
        },
      })
      const clock = { ...workshop.clock, sleep: async () => {} }
      expect(await workshop.pass({ host, concurrency: 4, clock })).toEqual({ stopped: [] })
      expect(summary(workshop)).toMatchObject({ synced: 30, failed: 0 })
      expect(refusals).toBeGreaterThan(0)
      expect(refusals).toBeLessThan(15)
      expect(workshop.synced.account.usedAfter('')).toBeLessThan(45)
    },
  )

  it('with a 5xx for one picture fails this picture once others are served, and later tries it last', async () => {
    const workshop = await openWorkshop()
    workshop.write('bad.png', red)
    const asked: string[] = []
    const host = hostWith(workshop.host, {
      async requestUpload(request, signal) {
        asked.push(request.file_name)
        return request.file_name === 'bad.png' ? outOfOrder : workshop.host.requestUpload(request, signal)
      },
    })
    const at = (hours: number) => {
      const wall = () => Date.parse('2026-11-21T10:00:00Z') + hours * HOUR_MS
      return workshop.pass({ host, concurrency: 1, clock: { ...workshop.clock, wall } })
    }
    const nextAfter = () => workshop.synced.failures.nextDue()! - Date.parse('2026-11-21T10:00:00Z')
    expect(await at(0)).toMatchObject({ stopped: [{ code: 'INTERNAL' }] })
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 1 })
    plant(workshop, 3)
    expect(await at(0)).toEqual({ stopped: [] })
    expect(asked.at(-1)).toBe('bad.png')
    expect(summary(workshop)).toMatchObject({ failed: 1, synced: 3 })
    expect(nextAfter()).toBe(HOUR_MS)
    // Alone, and after a failure that was its own.
    expect(await at(1)).toEqual({ stopped: [] })
    expect(nextAfter()).toBe(25 * HOUR_MS)
    workshop.write('other.png', green)
    expect(await at(25)).toEqual({ stopped: [] })
    expect(asked.slice(-2)).toEqual(['other.png', 'bad.png'])
    expect(nextAfter()).toBe((25 + 7 * 24) * HOUR_MS)
    await workshop.pass({ clock: { ...workshop.clock, wall: () => Date.parse('2026-12-01T10:00:00Z') } })
    expect(summary(workshop)).toMatchObject({ failed: 0, synced: 5 })
    expect(workshop.synced.meta.get('refused')).toEqual([])
  })

  it('with a 5xx for one picture between others that are served fails it in the same pass', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    const alone = { ...outOfOrder, failure: { ...outOfOrder.failure, othersServed: true as const } }
    const host = hostWith(workshop.host, {
      requestUpload: async (request, signal) =>
        request.file_name === '7.png' ? alone : workshop.host.requestUpload(request, signal),
    })
    expect(await workshop.pass({ host, concurrency: 1 })).toEqual({ stopped: [] })
    expect(summary(workshop)).toMatchObject({ failed: 1, synced: 9 })
  })

  it('with a 5xx for every picture costs none of them an attempt', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    const host = hostWith(workshop.host, { requestUpload: async () => outOfOrder })
    for (let pass = 0; pass < 12; pass++)
      expect((await workshop.pass({ host, concurrency: 2 })).stopped).toHaveLength(1)
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 10 })
    expect(workshop.synced.account.usedAfter('')).toBe(0)
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 10 })
  })

  it('with every answer to step 1 stops the uploads after a few', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 10)
    const odd = failure('change_request', 'HOST_ADDRESS', 'upload', { issued: true })
    const host = hostWith(workshop.host, { requestUpload: async () => odd })
    const { stopped } = await workshop.pass({ host, concurrency: 1 })
    expect(stopped).toMatchObject([{ code: 'HOST_REFUSES', endpoint: 'upload' }])
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 10 })
  })

  it.each([
    ['FORBIDDEN', 403],
    ['DELETE_FAILED', 500],
    ['UNREADABLE_DIMENSION', 400],
  ])("at the upload node, with %s for every picture, is not each picture's failure", async (code, status) => {
    const workshop = await openWorkshop()
    plant(workshop, 60)
    let takes = false
    const { at, used } = refusing(workshop, code, status, () => takes)
    expect(await at(0)).toMatchObject({ stopped: [{ code: 'HOST_REFUSES', endpoint: 'send' }] })
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 60 })
    const perPicture = used() / 3
    const [{ since, message }] = workshop.synced.account.blocks() as [BlockRow]
    expect(inWords(message)).toBe('the host refuses one picture after another, the last with "no"')
    expect(used()).toBeLessThanOrEqual(20)
    await at(0.5)
    expect(used()).toBe(3 * perPicture)
    for (let minute = 5; minute <= 3 * 60; minute += 5) await at(minute)
    expect(used() / perPicture).toBeLessThanOrEqual(3 + 3 * 4 + 5)
    expect(workshop.synced.account.blocks()).toMatchObject([{ code: 'HOST_REFUSES', since }])
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 60 })
    takes = true
    await at(3 * 60 + 20)
    expect(workshop.synced.account.blocks()).toEqual([])
    expect(summary(workshop)).toMatchObject({ synced: 60, failed: 0 })
  })

  it.each(['upload', 'list', 'create_album'] as const)(
    'with an unlisted 403 at "%s" for every picture is a block in the words of the host, and no picture fails',
    async endpoint => {
      const workshop = await openWorkshop()
      plant(workshop, 60)
      let asked = 0
      let takes = false
      const no = refused(endpoint, 403, { error: 'Your plan has ended', code: 'PLAN_EXPIRED' }, [])
      const or = <A extends unknown[], T>(at: string, call: (...args: A) => Promise<Outcome<T>>) => {
        return async (...args: A): Promise<Outcome<T>> => {
          asked++
          return at === endpoint && !takes ? { ok: false, failure: no } : call(...args)
        }
      }
      const host = hostWith(workshop.host, {
        requestUpload: or('upload', workshop.host.requestUpload),
        list: or('list', workshop.host.list),
        createAlbum: or('create_album', workshop.host.createAlbum),
      })
      const at = (minutes: number) => {
        const wall = () => Date.parse('2026-11-21T00:00:00Z') + minutes * 60_000
        return workshop.pass({ host, allowance, clock: { ...workshop.clock, wall }, concurrency: 4 })
      }
      expect(await at(0)).toMatchObject({ stopped: [{ code: 'HOST_REFUSES', endpoint }] })
      expect(asked).toBeLessThanOrEqual(12)
      const [{ message }] = workshop.synced.account.blocks() as [BlockRow]
      expect(inWords(message)).toContain('"Your plan has ended"')
      for (const minute of [0.5, 2, 4, 8]) {
        asked = 0
        await at(minute)
        expect(asked).toBeLessThanOrEqual(minute < 1 ? 0 : 3)
      }
      expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 60 })
      expect(workshop.synced.summaries.failures(9)).toEqual([])
      takes = true
      await at(60)
      expect(workshop.synced.account.blocks()).toEqual([])
      expect(summary(workshop)).toMatchObject({ synced: 60, failed: 0 })
    },
  )

  it('at the upload node, for many pictures side by side, lets the others go', async () => {
    const workshop = await openWorkshop()
    plant(workshop, 30)
    const isBad = (name: string) => Number.parseInt(name, 10) < 12
    for (let n = 0; n < 30; n++) utimesSync(join(workshop.pictures, `${n}.png`), 2000 - n, 2000 - n)
    const { at, used } = refusing(workshop, 'FORBIDDEN', 403, name => !isBad(name))
    for (let minute = 0; minute <= 5; minute++) await at(minute)
    expect(summary(workshop)).toMatchObject({ synced: 18, failed: 12, pending_uploads: 0 })
    // Those that were refused with all others are tried once more.
    expect(used()).toBeLessThanOrEqual(18 + 2 * 12)
    // They are known. That a node refuses them again says nothing about other pictures.
    for (let hour = 2; hour <= 50; hour++) {
      expect(await at(hour * 60)).toEqual({ stopped: [] })
      expect(workshop.synced.account.blocks()).toEqual([])
    }
    expect(used()).toBeGreaterThan(50)
  })

  it("at a mirror's album, whose key it refuses, does not hold up other mirrors, and few pictures ask again", async () => {
    const workshop = await openWorkshop()
    plant(workshop, 30)
    const mirrors = ['Photos', 'Other', 'Late'].map(album => ({ ...workshop.mirror, album }))
    for (const mirror of mirrors.slice(1)) {
      mirror.folder += `-${mirror.album}`
      mkdirSync(mirror.folder)
      writeFileSync(join(mirror.folder, 'red.png'), red)
    }
    const allowed = new Set(['Other'])
    const host = hostWith(workshop.host, {
      createAlbum: async (album, ...args) =>
        allowed.has(album.name)
          ? workshop.host.createAlbum(album, ...args)
          : failure('not_permitted', 'FORBIDDEN', 'create_album', { status: 403 }),
    })
    let read = 0
    const at = (hour: number) => {
      const wall = () => workshop.clock.wall() + hour * HOUR_MS
      const counted: EngineContext['openPicture'] = (root, path) => {
        if (root === workshop.pictures) read++
        return openPicture(root, path, { changed: () => new PictureChanged() })
      }
      return workshop.pass(
        { host, clock: { ...workshop.clock, wall }, openPicture: counted, lookAt: lookingAt(realDisk) },
        'mirror',
        undefined,
        mirrors,
      )
    }
    expect(await at(0)).toEqual({ stopped: [] })
    expect(workshop.synced.summaries.mirror(2)).toMatchObject({ synced: 1 })
    expect(summary(workshop)).toMatchObject({ failed: 30, pending_uploads: 0 })
    const [told] = workshop.synced.summaries.failures(1)
    expect(told).toMatchObject({ code: 'FORBIDDEN', next_attempt_at: expect.any(Number) })
    expect(inWords(told!.message)).toContain(
      'refuses the key the album of this picture, or the root if it has none (',
    )
    expect(read).toBe(30)
    allowed.add('Late')
    await at(2)
    expect(workshop.synced.summaries.mirror(3)).toMatchObject({ synced: 1 })
    for (const hour of [3, 4, 5]) await at(hour)
    expect(read).toBeLessThanOrEqual(30 + 4 * 10)
    // The pictures come there by other ways, so nothing is sent when the key gets its right.
    const elsewhere = openSynced(openDatabase(':memory:'))
    await workshop.pass({ synced: elsewhere })
    elsewhere.close()
    allowed.add('Photos')
    for (const hour of [6, 7, 8]) await at(hour)
    expect(summary(workshop)).toMatchObject({ synced: 30, failed: 0 })
    expect(count(workshop, 'picture_uploaded')).toBe(2 + 30)
  })

  it('that does not list some albums, holds up no others, and pictures of each of them ask again', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'b/red.png': red, 'c/red.png': red })
    const refused = new Set(['a', 'b'])
    const names = new Map(workshop.synced.albums.all().map(({ remote_id, name }) => [remote_id, name]))
    const host = hostWith(workshop.host, {
      list: async (album, ...args) =>
        refused.has(names.get(album ?? '') ?? '')
          ? failure('change_request', 'INVALID_PARAMS', 'list', { status: 400 })
          : workshop.host.list(album, ...args),
    })
    // Those of the album that stays refused come first.
    for (const folder of ['b', 'a'])
      for (let n = 0; n < 12; n++) workshop.write(`${folder}/${n}.png`, png(4, 4 + n).bytes)
    workshop.write('c/later.png', png(3, 9).bytes)
    const contents = new AlbumContents()
    const at = (hour: number) =>
      workshop.pass({
        host,
        contents,
        clock: { ...workshop.clock, wall: () => workshop.clock.wall() + hour * HOUR_MS },
      })
    expect(await at(0)).toEqual({ stopped: [] })
    expect(summary(workshop)).toMatchObject({ synced: 4, failed: 24, pending_uploads: 0 })
    const [told] = workshop.synced.summaries.failures(1)
    expect(inWords(told!.message)).toContain('does not list the album of this picture')
    refused.delete('b')
    for (const hour of [2, 2.1, 2.2]) await at(hour)
    expect(summary(workshop)).toMatchObject({ synced: 4 + 12, failed: 12, pending_uploads: 0 })
  })

  it('that lists an album and then does not know it, holds up no other albums', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'b/green.png': green })
    const { remote_id } = workshop.synced.albums.all().find(({ name }) => name === 'a')!
    const host = hostWith(workshop.host, {
      list: async (album, ...args) =>
        album === remote_id ? failure('gone', 'NOT_FOUND', 'list') : workshop.host.list(album, ...args),
    })
    workshop.write('b/later.png', png(5, 5).bytes)
    workshop.write('a/later.png', png(4, 4).bytes)
    utimesSync(join(workshop.pictures, 'b/later.png'), 2000, 2000)
    expect(await workshop.pass({ host, concurrency: 1, contents: new AlbumContents() })).toEqual({
      stopped: [],
    })
    expect(summary(workshop)).toMatchObject({ synced: 3, pending_uploads: 1 })
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 4 })
  })

  it('behind a proxy that sends step 2 twice is asked what it holds before a refused picture goes again', async () => {
    const workshop = await workshopWith({ 'green.png': green })
    workshop.write('red.png', red)
    // The node stores the first copy, and answers the second one that the credential was used.
    const host = hostWith(workshop.host, {
      async send(...args) {
        await workshop.host.send(...args)
        return workshop.host.send(...args)
      },
    })
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 1 })
    const wall = () => workshop.clock.wall() + 2 * HOUR_MS
    await workshop.pass({ host, clock: { ...workshop.clock, wall } })
    expect(summary(workshop)).toMatchObject({ synced: 2, failed: 0 })
    const listed = await contentOf(workshop.host, workshop.synced.albums.all()[0]!.remote_id)
    expect(listed?.toSorted()).toEqual(['green.png', 'red.png'])
  })

  it('that answers the id of another picture is not believed', async () => {
    const workshop = await workshopWith({ 'red.png': red })
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
      return workshop.pass({ host, allowance, clock: { ...workshop.clock, wall } })
    }
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
    const block = {
      endpoint: 'upload',
      remedy: 'plan',
      code: 'PLAN_NOT_SUPPORTED',
      message: said('no'),
    } as const
    const host = hostWith(workshop.host, {
      blocks: () => [{ ...block, since: 0 }],
      unblock: endpoint => unblocked.push(endpoint),
      requestUpload: async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'upload', { status: 403 }),
    })
    const at = (minutes: number) => {
      const wall = () => Date.parse('2026-11-21T10:00:00Z') + minutes * 60_000
      const monotonic = () => minutes * 60_000
      return workshop.pass({ host, allowance, clock: { ...workshop.clock, wall, monotonic } })
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

  it('that shut an endpoint which nobody asked again is recorded as it was', async () => {
    const workshop = await openWorkshop()
    const block = {
      endpoint: 'create_album',
      remedy: 'plan',
      code: 'PLAN_NOT_SUPPORTED',
      message: said('no'),
    }
    const host = hostWith(workshop.host, {
      blocks: untried => (untried ? [{ ...block, since: 0 } as Block] : []),
    })
    const wall = () => Date.parse('2026-11-21T10:00:00Z')
    await workshop.pass({ host, clock: { ...workshop.clock, wall, monotonic: () => 60_000 } })
    const said_at = wall() - 60_000
    expect(workshop.synced.account.blocks()).toMatchObject([
      { endpoint: 'create_album', since: said_at, said_at },
    ])
    await workshop.pass()
    expect(workshop.synced.account.blocks()).toEqual([])
  })

  it('of a plan that lists nothing holds up no upload while a key is tried that was refused', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    const block: Block = {
      endpoint: 'list',
      remedy: 'key',
      code: 'INVALID_API_KEY',
      message: said('no'),
      since: 0,
    }
    const host = hostWith(workshop.host, {
      blocks: untried => (untried ? [block] : []),
      list: async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list'),
    })
    expect(await workshop.pass({ host })).toEqual({ stopped: [] })
    expect(summary(workshop)).toMatchObject({ synced: 1 })
  })
})

const HOUR_MS = 3_600_000
const hash = Buffer.alloc(32)

it('a picture that the line is too slow for is its own failure, tried again in an hour; the others go on', () => {
  const failure = tooSlow('upload', { ms: 840_000, bytesPerSecond: 57 * 1024 }, 600_000)
  const { message } = failure
  expect(resultOfRefusal(failure, hash, 1000)).toEqual({
    kind: 'failed',
    code: 'TOO_SLOW',
    message,
    retryAt: 1000 + HOUR_MS,
    hash,
  })
  expect(inWords(message)).toBe(
    'Sending takes 14 min at 57 KB/s, and 10 min are allowed; albumd tries again. Get a faster line, or raise uploads.bandwidth',
  )
})

it.each([
  [0, 1],
  [1, 24],
  [2, 7 * 24],
  [9, 7 * 24],
])('a picture that a node refuses waits, after %i tries before, for %i h', (attempts, hours) => {
  const why = said('No holiday pictures.')
  const refusal = failure('refused_by_node', 'POLICY', 'send', {
    status: 422,
    message: because('refused_by_node', { why }),
  })
  const result = resultOfRefusal(refusal.failure, hash, 1000, attempts)
  expect(result).toMatchObject({ kind: 'failed', code: 'POLICY', retryAt: 1000 + hours * HOUR_MS })
  expect(inWords((result as { message: Reason }).message)).toContain('No holiday pictures')
})

it('one that made way for others stays pending', () => {
  const failure = ownFailure('send', 'GAVE_WAY', because('gave_way'))
  expect(resultOfRefusal(failure, hash, 1000)).toMatchObject({ kind: 'waits' })
})
