import { describe, expect, it } from 'vitest'
import { runAudit } from '../../../src/sync/audit/index.ts'
import { forgetRefusals } from '../../../src/sync/uploads/index.ts'
import type { BlockRow } from '../../../src/synced/tables/account.ts'
import { because, inWords, said } from '../../../src/words/reasons.ts'
import { UNLIMITED } from '../../host/choices.ts'
import { png } from '../../pictures.ts'
import { clientOf } from '../../remote/client-of.ts'
import { bodyOf, json, passOn, serve } from '../../remote/serve.ts'
import { never } from '../album-stage.ts'
import { ALLOWANCE, count, openWith, START, summary, type Workshop } from '../workshop.ts'

const MINUTE = 60_000
const TYPE = 'image/x-icon'

/** An icon with a PNG in it. */
function ico(side: number): Buffer {
  const { bytes } = png(side, side)
  const head = Buffer.from([0, 0, 1, 0, 1, 0, side, side, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 22, 0, 0, 0])
  head.writeUInt32LE(bytes.length, 14)
  return Buffer.concat([head, bytes])
}

const icons = (from: number, to: number) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`${from + n}.ico`, ico(from + n)]))
const pngs = (from: number, to: number) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`${from + n}.png`, png(2, from + n).bytes]))

/** A host that refuses one type of pictures, or all, and a clock that a test sets forward. */
async function refusing(workshop: Workshop, status: number, body: unknown) {
  const told = { asked: 0, refuses: TYPE as string | null, isUsedUp: false, ahead: 0 }
  const proxy = await serve(async (request, response) => {
    const bytes = await bodyOf(request)
    if (request.url!.startsWith('/api/v1/upload')) {
      const type = JSON.parse(bytes.toString()).mime_type
      if (told.isUsedUp) return json(response, 429, USED_UP)
      if (type === TYPE) told.asked++
      if (told.refuses === type || told.refuses === 'all') return json(response, status, body)
    }
    return passOn(workshop.siteUrl, request, bytes, response)
  })
  const host = clientOf(proxy, { apiKey: 'workshop-key', requestsPerSecond: UNLIMITED })
  const clock = { ...workshop.clock, wall: () => Math.round(START + told.ahead) }
  const changes = { host, clock, allowance: { ...ALLOWANCE, probeEveryMs: 15 * MINUTE } }
  return {
    told,
    context: () => workshop.context(changes),
    pass: () => workshop.pass({ ...changes, concurrency: 1 }),
    async asks(pass: () => Promise<unknown>) {
      const before = told.asked
      await pass()
      return told.asked - before
    },
  }
}

const USED_UP = { success: false, error: 'Tomorrow', code: 'DAILY_LIMIT_REACHED' }
const BLOCK = { endpoint: `upload ${TYPE}`, code: 'FORMAT_REFUSED' }

describe.each([
  ['415', 415, { success: false, error: 'No icons', code: 'UNSUPPORTED' }],
  ['VALIDATION_ERROR', 400, { success: false, error: 'No icons', code: 'VALIDATION_ERROR' }],
  ['a code of its own', 422, { success: false, error: 'No icons', code: 'BAD_TYPE' }],
])('a format that the host refuses (%s)', (_, status, body) => {
  const open = async () => {
    const workshop = await openWith({ ...icons(10, 14), ...pngs(20, 27) })
    const at = await refusing(workshop, status, body)
    // Where only icons are left to send, the host seems to refuse all, until it takes another picture.
    for (let passes = 0; passes < 3; passes++, at.told.ahead += 2 * MINUTE) {
      await at.pass()
      workshop.write(`${27 + passes}.png`, png(2, 27 + passes).bytes)
    }
    await at.pass()
    return { workshop, ...at }
  }

  it('is one block, told once in its words; its pictures wait and fail not, and the others are sent', async () => {
    const { workshop } = await open()
    const { synced } = workshop
    expect(summary(workshop)).toMatchObject({ synced: 10, failed: 0, pending_uploads: 4 })
    expect(synced.account.blocks()).toMatchObject([BLOCK])
    const [{ message }] = synced.account.blocks() as [BlockRow]
    expect(message).toBe(because('format_refused', { mime: TYPE, why: said('No icons') }))
    expect(inWords(message)).toContain('No icons')
    expect(synced.waits.below({ mirror: 1, path: '' })).toMatchObject([{ why: message, pictures: 4 }])
    expect(count(workshop, 'format_refused')).toBe(1)
  })

  it('is asked about by one picture, ever more seldom, and reads the others no more', async () => {
    const { workshop, told, pass, asks } = await open()
    const since = told.ahead
    let asked = 0
    for (; told.ahead < since + 24 * 60 * MINUTE; told.ahead += 10 * MINUTE) {
      const now = await asks(pass)
      expect(now).toBeLessThanOrEqual(1)
      asked += now
    }
    expect(asked).toBeGreaterThan(3)
    expect(asked).toBeLessThanOrEqual(9)
    for (const [name, bytes] of Object.entries(icons(40, 44))) workshop.write(name, bytes)
    expect(await asks(pass)).toBeLessThanOrEqual(1)
    expect(summary(workshop)).toMatchObject({ failed: 0, pending_uploads: 8 })
    expect(count(workshop, 'format_refused')).toBe(1)
  })

  it('is asked about once in a pass that first asks whether there is quota again', async () => {
    const { workshop, told, pass, asks } = await open()
    told.isUsedUp = true
    workshop.write('40.png', png(2, 40).bytes)
    await pass()
    told.isUsedUp = false
    told.ahead += 24 * 60 * MINUTE
    workshop.write('40.ico', ico(40))
    expect(await asks(pass)).toBe(1)
    expect(summary(workshop)).toMatchObject({ synced: 11, failed: 0, pending_uploads: 5 })
  })

  it.each(['a person', 'an audit'])(
    'is asked about at once after %s, and ends with the first that is taken',
    async who => {
      const { workshop, told, context, pass, asks } = await open()
      const { synced } = workshop
      for (let hours = 0; hours < 8; hours++, told.ahead += 60 * MINUTE) await pass()
      told.ahead += MINUTE
      await pass()
      told.refuses = null
      told.ahead += MINUTE
      expect(await asks(pass)).toBe(0)
      if (who === 'a person') synced.commitNow(forgetRefusals)
      else await runAudit({ ...context(), gapMs: 0, progress() {} }, { stop: never, cut: never })
      await pass()
      await pass()
      expect(summary(workshop)).toMatchObject({ synced: 14, failed: 0, pending_uploads: 0 })
      expect(synced.account.blocks()).toEqual([])
    },
  )

  it('is no block any more when none of its pictures is there', async () => {
    const { workshop, pass } = await open()
    for (const name of Object.keys(icons(10, 14))) workshop.remove(name)
    await pass()
    expect(workshop.synced.account.blocks()).toEqual([])
  })
})

it.each([
  ['one of them asks', 2, TYPE],
  ['one that was refused too asks every other time', 4, 'all'],
])(
  'is soon told from a host that refuses all where few have another type: %s',
  async (_, passes, atFirst) => {
    const workshop = await openWith({ ...icons(10, 25), ...pngs(20, 21), ...icons(25, 40) })
    const { told, pass } = await refusing(workshop, 403, { success: false, error: 'No', code: 'NOT_TAKEN' })
    told.refuses = atFirst
    for (let made = 1; made <= passes; made++, told.ahead += 16 * MINUTE) {
      if (made === 3) told.refuses = TYPE
      expect(workshop.synced.account.blocks()).toMatchObject(made === 1 ? [] : [{ code: 'HOST_REFUSES' }])
      await pass()
    }
    expect(workshop.synced.account.blocks()).toMatchObject([BLOCK])
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0, pending_uploads: 30 })
  },
)

it('is not what a host refuses that takes nothing at all, or two pictures of a type', async () => {
  const closed = { success: false, error: 'Back at six', code: 'MAINTENANCE_SCHEDULED' }
  const workshop = await openWith(icons(10, 14))
  const { told, pass } = await refusing(workshop, 403, closed)
  told.refuses = 'all'
  for (let passes = 0; passes < 3; passes++, told.ahead += 2 * MINUTE) await pass()
  expect(workshop.synced.account.blocks()).toMatchObject([{ endpoint: 'upload', code: 'HOST_REFUSES' }])
  told.refuses = null
  for (let passes = 0; passes < 3; passes++, told.ahead += 30 * MINUTE) await pass()
  expect(summary(workshop)).toMatchObject({ synced: 4, failed: 0 })
  expect(count(workshop, 'format_refused')).toBe(0)
})
