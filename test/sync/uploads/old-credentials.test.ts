import { createHash } from 'node:crypto'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { HOUR_MS, systemClock } from '../../../src/protocol/clock.ts'
import type { RemoteOptions } from '../../../src/remote/client.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png, svg } from '../../pictures.ts'
import { clientOf } from '../../remote/client-of.ts'
import { listingWith } from '../album-stage.ts'
import { failure, green, imagesOn, many, openWith, openWorkshop, red, summary } from '../workshop.ts'

const blue = png(3, 2, 30).bytes

/** So many different pictures of 14 KB. */
const pictures = (many: number) =>
  Object.fromEntries(Array.from({ length: many }, (_, n) => [`${n}.png`, png(120, 120, n + 1).bytes]))

/** A workshop whose host keeps credentials for a shorter time than the 10 s that the config says. */
async function openPromising(many: number, credentialTtlMs: number, options: Partial<RemoteOptions> = {}) {
  const workshop = await openWith(pictures(many), {}, { credentialTtlMs })
  const apiKey = 'workshop-key'
  const of = { apiKey, requestsPerSecond: UNLIMITED, credentialLifetimeMs: 10_000, ...options }
  const host = clientOf(workshop.siteUrl, of)
  let sent = 0
  const pass = (changes: Partial<ImageHost> = {}) => {
    const send: ImageHost['send'] = (...args) => {
      sent++
      return (changes.send ?? host.send)(...args)
    }
    return workshop.pass({
      host: hostWith(host, { ...changes, send }),
      concurrency: 8,
      credentialLifetimeMs: 10_000,
    })
  }
  return { workshop, host, pass, sent: () => sent }
}

it('what can be sent while a credential lives is mirrored, though eight at once take longer than it lives', async () => {
  const { workshop, pass, sent } = await openPromising(16, 1500, { bandwidth: 50_000 })
  expect(await pass()).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 16, failed: 0 })
  expect(sent()).toBeLessThanOrEqual(32)
})

it('a machine that slept with a credential asks for another one at once', async () => {
  let asleep = 0
  const { workshop, host, pass } = await openPromising(1, 1500, { wall: () => Date.now() + asleep })
  const requestUpload: ImageHost['requestUpload'] = async (...args) => {
    const granted = await host.requestUpload(...args)
    if (asleep === 0) await setTimeout(1600)
    asleep = 3_600_000
    return granted
  }
  expect(await pass({ requestUpload })).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
})

it('a picture whose credentials are always too old takes three of them, and then waits', async () => {
  const { workshop, host, pass, sent } = await openPromising(1, 50)
  const requestUpload: ImageHost['requestUpload'] = async (...args) => {
    const granted = await host.requestUpload(...args)
    await setTimeout(300)
    return granted
  }
  await pass({ requestUpload })
  expect(sent()).toBe(3)
  expect(summary(workshop)).toMatchObject({ synced: 0, failed: 1 })
})

it('a late picture that a proxy sends twice is not sent again, though its second copy is refused', async () => {
  const { workshop, host, pass, sent } = await openPromising(0, 3000)
  workshop.write('red.png', red)
  await pass({
    async send(...args) {
      await setTimeout(300)
      await workshop.host.send(...args)
      return host.send(...args)
    },
  })
  await pass()
  expect(sent()).toBe(1)
  expect(await imagesOn(workshop)).toEqual(['red.png'])
  expect(summary(workshop)).toMatchObject({ synced: 1 })
})

it('the same where the host encodes pictures anew and lists them late', async () => {
  const { workshop, host, pass, sent } = await openPromising(0, 3000)
  workshop.write('green.png', green)
  await pass()
  workshop.write('red.png', red)
  const changed: ImageHost['fetchDelivered'] = async (cdnUrl, most, signal, take) => {
    const given = await host.fetchDelivered(cdnUrl, most, signal)
    if (!given.ok || given.status !== 200) return given
    take?.(blue)
    return { ...given, size: blue.length, sha256: createHash('sha256').update(blue).digest() }
  }
  const late = listingWith(host, ({ images, pagination, ...page }) => {
    const listed = images.filter(({ name }) => name !== 'red.png')
    return { ...page, images: listed, pagination: { ...pagination, total_images: listed.length } }
  })
  await pass({
    fetchDelivered: changed,
    list: late,
    async send(...args) {
      await setTimeout(300)
      await workshop.host.send(...args)
      return host.send(...args)
    },
  })
  const monotonic = () => systemClock.monotonic() + HOUR_MS
  await workshop.pass({
    host: hostWith(host, { fetchDelivered: changed }),
    clock: { ...systemClock, monotonic },
  })
  expect(sent()).toBe(2)
  expect((await imagesOn(workshop)).sort()).toEqual(['green.png', 'red.png'])
  expect(summary(workshop)).toMatchObject({ synced: 2 })
})

const tooOld = () => failure('refused_by_node', 'NOT_FOUND', 'send', { status: 404, aged: true })

it('where credentials get too old beside more than two others, so many go together that all are sent', async () => {
  const workshop = await openWith(many(30))
  let together = 0
  const host = hostWith(workshop.host, {
    requestUpload(...args) {
      together++
      return workshop.host.requestUpload(...args)
    },
    async send(...args) {
      await setImmediate()
      const sent = together > 3 ? tooOld() : await workshop.host.send(...args)
      together--
      return sent
    },
  })
  expect(await workshop.pass({ host, concurrency: 8 })).toEqual({ stopped: [] })
  expect(summary(workshop)).toMatchObject({ synced: 30, failed: 0 })
})

it('credentials that are too old say nothing about other pictures, where others are taken', async () => {
  const workshop = await openWorkshop()
  const drawing = svg('<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>').bytes
  for (let n = 0; n < 12; n++) {
    const name = n === 2 ? '2.svg' : `${n}.png`
    workshop.write(name, n === 2 ? drawing : png(2, 2 + n).bytes)
    utimesSync(join(workshop.pictures, name), n, n)
  }
  const old = ['1.png', '3.png', '4.png', '5.png']
  const host = hostWith(workshop.host, {
    send: async (credential, picture, signal) =>
      old.includes(picture.fileName) ? tooOld() : workshop.host.send(credential, picture, signal),
  })
  const pass = () => workshop.pass({ host, concurrency: 1, order: 'oldest' })
  expect(await pass()).toEqual({ stopped: [] })
  expect(workshop.synced.account.blocks()).toEqual([])
  expect(summary(workshop)).toMatchObject({ synced: 8, failed: 4 })
})
