import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { openPicture } from '../../../src/local/picture-file.ts'
import { refused } from '../../../src/remote/failures.ts'
import { hostWith, type Outcome, PictureChanged } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import type { BlockRow } from '../../../src/synced/tables/account.ts'
import { because, codeOf, inWords, said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { contentOf } from '../album-stage.ts'
import {
  count,
  failure,
  green,
  lookingAt,
  many,
  openWith,
  passAt,
  red,
  START,
  summary,
  type Workshop,
  workshopWith,
} from '../workshop.ts'

const unusable = failure('change_request', 'HOST_ADDRESS', 'upload', { issued: true })
const outOfOrder = failure('later', 'INTERNAL', 'upload', { status: 500 })

/** The workshop with an upload node that refuses some pictures. */
function refusing(workshop: Workshop, code: string, status: number, takes: (name: string) => boolean) {
  const host = hostWith(workshop.host, {
    send: async (credential, picture, signal) =>
      takes(picture.fileName)
        ? workshop.host.send(credential, picture, signal)
        : { ok: false, failure: refused('send', status, { error: 'no', code }, []) },
  })
  const at = (minutes: number) => passAt(workshop, minutes, { host, concurrency: 1 })
  return { at, used: () => workshop.synced.account.usedAfter('') }
}

const HOUR_MS = 3_600_000

describe('trouble at the host', () => {
  it('that leaves outcomes unknown ends the uploads after a few, and says which they are', async () => {
    const workshop = await openWith(many(30))
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
    ['a 5xx', outOfOrder],
  ])('with %s for every picture costs none of them an attempt', async (_, answer) => {
    const workshop = await openWith(many(10))
    const host = hostWith(workshop.host, { requestUpload: async () => answer })
    for (let pass = 0; pass < 12; pass++)
      expect((await workshop.pass({ host, concurrency: 2 })).stopped).toHaveLength(1)
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 10 })
    expect(workshop.synced.account.usedAfter('')).toBe(0)
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 10 })
  })

  it.each([
    ['an answer that may have issued a credential', unusable, 10],
    ['a page of a firewall', failure('later', 'HOST_ANSWER', 'upload', { status: 403 }), 9],
    [
      'a 5xx between others that are served',
      failure('later', 'INTERNAL', 'upload', { status: 500, othersServed: true }),
      9,
    ],
  ])('with %s for one picture fails it in the same pass, and lets the others go', async (_, answer, used) => {
    const workshop = await openWith(many(10))
    const host = hostWith(workshop.host, {
      requestUpload: async (request, signal) =>
        request.file_name === '7.png' ? answer : workshop.host.requestUpload(request, signal),
    })
    expect(await workshop.pass({ host, concurrency: 1 })).toEqual({ stopped: [] })
    expect(summary(workshop)).toMatchObject({ failed: 1, synced: 9 })
    expect(workshop.synced.account.usedAfter('')).toBe(used)
  })

  it.each([
    ['INTERNAL', 500],
    ['NO_AVAILABLE_IO_NODE', 503],
  ])(
    'at the upload node with %s (%i) is tried again at once, with another credential',
    async (code, status) => {
      const workshop = await openWith({ 'red.png': red })
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
      const workshop = await openWith(many(30))
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
    const workshop = await openWith({ 'bad.png': red })
    const asked: string[] = []
    const host = hostWith(workshop.host, {
      async requestUpload(request, signal) {
        asked.push(request.file_name)
        return request.file_name === 'bad.png' ? outOfOrder : workshop.host.requestUpload(request, signal)
      },
    })
    const at = (hours: number) => passAt(workshop, hours * 60, { host, concurrency: 1 })
    const nextAfter = () => workshop.synced.failures.nextDue()! - START
    expect(await at(0)).toMatchObject({ stopped: [{ code: 'INTERNAL' }] })
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 1 })
    for (const [path, bytes] of Object.entries(many(3))) workshop.write(path, bytes)
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
    await passAt(workshop, 10 * 24 * 60, {})
    expect(summary(workshop)).toMatchObject({ failed: 0, synced: 5 })
    expect(workshop.synced.meta.get('refused')).toEqual([])
  })

  it('with every answer to step 1 stops the uploads after a few', async () => {
    const workshop = await openWith(many(10))
    const host = hostWith(workshop.host, { requestUpload: async () => unusable })
    const { stopped } = await workshop.pass({ host, concurrency: 1 })
    expect(stopped).toMatchObject([{ code: 'HOST_REFUSES', endpoint: 'upload' }])
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 10 })
  })

  it.each([
    ['FORBIDDEN', 403],
    ['DELETE_FAILED', 500],
    ['UNREADABLE_DIMENSION', 400],
  ])("at the upload node, with %s for every picture, is not each picture's failure", async (code, status) => {
    const workshop = await openWith(many(60))
    let takes = false
    const { at, used } = refusing(workshop, code, status, () => takes)
    expect(await at(0)).toMatchObject({ stopped: [{ code: 'HOST_REFUSES', endpoint: 'send' }] })
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 60 })
    const perPicture = used() / 3
    const [{ since, message }] = workshop.synced.account.blocks() as [BlockRow]
    expect(message).toEqual(because('host_refuses', { why: said('no') }))
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
      const workshop = await openWith(many(60))
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
      const at = (minutes: number) => passAt(workshop, minutes, { host })
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
    const workshop = await openWith(many(30))
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
    const workshop = await openWith(many(30))
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
    const counted: EngineContext['openPicture'] = (root, path) => {
      if (root === workshop.pictures) read++
      return openPicture(root, path, { changed: () => new PictureChanged() })
    }
    const parts = { host, openPicture: counted, lookAt: lookingAt(realDisk) }
    const at = (hour: number) => passAt(workshop, hour * 60, parts, mirrors)
    expect(await at(0)).toEqual({ stopped: [] })
    expect(workshop.synced.summaries.mirror(2)).toMatchObject({ synced: 1 })
    expect(summary(workshop)).toMatchObject({ failed: 30, pending_uploads: 0 })
    const [told] = workshop.synced.summaries.failures(1)
    expect(told).toMatchObject({ code: 'FORBIDDEN', next_attempt_at: expect.any(Number) })
    expect(codeOf(told!.message)).toBe('album_not_permitted')
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
    const at = (hour: number) => passAt(workshop, hour * 60, { host, contents })
    expect(await at(0)).toEqual({ stopped: [] })
    expect(summary(workshop)).toMatchObject({ synced: 4, failed: 24, pending_uploads: 0 })
    const [told] = workshop.synced.summaries.failures(1)
    expect(codeOf(told!.message)).toBe('listing_refused')
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
    await workshop.pass({
      host,
      clock: { ...workshop.clock, wall: () => workshop.clock.wall() + 2 * HOUR_MS },
    })
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
})
