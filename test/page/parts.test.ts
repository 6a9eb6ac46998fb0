import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Alert } from '../../src/daemon/notify/health.ts'
import type { Facts, Recorded } from '../../src/page/facts.ts'
import { isOwnHost, isOwnOrigin, readOrMakeKey, userIn } from '../../src/page/guard.ts'
import type { ToDecide } from '../../src/page/to-decide.ts'
import { UnderWayPictures } from '../../src/page/under-way.ts'
import { alerts, deletions, failures } from '../../src/page/view/decisions.ts'
import { html } from '../../src/page/view/elements.ts'
import { mirrors, quota } from '../../src/page/view/sections.ts'
import { stateInWords } from '../../src/page/view/state.ts'
import { tempFolder } from '../temp-folder.ts'

const AT_REST = { underWay: [], rate: { bytes: 0, pictures: 0 } } as unknown as Facts

const MIRROR = {
  folder: '/pictures',
  album: 'Photos',
  state: 'idle',
  reason: null,
  files: 3,
  synced: 3,
  linked: 0,
  flat: 2,
  pending_uploads: 0,
  failed: 0,
  uncertain: 0,
  pending_deletions: 0,
  held_deletions: 0,
  left_out: {},
  left_out_with_image: 0,
  oldest_unsynced: null,
  many: null,
  waits: [],
  image_waits: [],
}

it('tells how many pictures lie outside their albums', () => {
  const shown = (changes: object, ...others: object[]) => {
    const status = { mirrors: [{ ...MIRROR, ...changes }, ...others], blocks: [] }
    const backlog = { pictures: 0 }
    return mirrors(
      { status: { ...status, backlog, paused: null }, alerts: [] } as unknown as Recorded,
      AT_REST,
    ).text
  }
  expect(shown({})).toContain('2 outside their albums')
  expect(shown({})).not.toContain('to upload')
  expect(shown({ pending_uploads: 5 })).toContain('5 to upload')
  expect(shown({ pending_uploads: 5, state: 'paused' })).toContain('· paused')
  const other = { ...MIRROR, folder: '/other', state: 'guarded' }
  expect(shown({}, other)).not.toContain('is deleted')
  expect(shown({ pending_deletions: 1 }, other)).toContain('Nothing is deleted while /other is guarded')
  expect(shown({ pending_deletions: 1, state: 'guarded' })).not.toContain('is deleted')
  // Of many the page says above when they go.
  expect(shown({ pending_deletions: 4, many: { deletions: 4 } })).not.toContain('deletions list')
  expect(shown({ pending_deletions: 4, many: { deletions: 3 } })).toContain('albumd deletions list')
})

it('says of pictures that are not sent what they wait for, and not how long they take to send', () => {
  const backlog = { pictures: 1, compare: 0, bytes: 600, today: 1, today_seconds: 90, next_day_at: null }
  const own = {
    code: 'incomplete',
    cause: 'NOT_READY',
    what: 'it may still be written',
    at: null,
    as_of: null,
    command: null,
    pictures: 1,
    path: 'a.png',
  }
  const ofAll = {
    ...own,
    code: 'quota_used_up',
    cause: 'DAILY_LIMIT_REACHED',
    what: 'used up',
    pictures: null,
    path: null,
  }
  const shown = (state: string, waits: object[]) => {
    const status = {
      running: true,
      paused: null,
      blocks: [],
      mirrors: [{ ...MIRROR, state, pending_uploads: 1, waits }],
      backlog: { ...backlog, per_day: 9 },
      quota: { limit: 9 },
    }
    const recorded = { status, alerts: [] } as unknown as Recorded
    const facts = {
      recorded,
      problem: null,
      underWay: [],
      rate: { bytes: 0, pictures: 0 },
    } as unknown as Facts
    return [stateInWords(facts).words, mirrors(recorded, facts).text] as const
  }
  const [title, text] = shown('idle', [own])
  expect(title).toBe('Waits, 1 left')
  expect(text).toContain('a.png: it may still be written')
  expect(text).not.toContain('of sending')
  expect(shown('syncing', [own])).toEqual(['Syncing, 1 left', expect.stringContaining('2 min of sending')])
  expect(shown('syncing', [own, ofAll])).toEqual([
    'Waits for quota, 1 left',
    expect.stringContaining('used up'),
  ])
  expect(shown('blocked', [])[0]).toBe('Waits, 1 left')
})

it('is red for what a person must end, and says elsewhere what only takes long', () => {
  const waits = { key: 'TOO_OLD', code: 'TOO_OLD', message: 'A picture has waited for 25 hours' }
  const refused = { key: 'KEY', code: 'KEY', message: 'The key is refused' }
  const shownElsewhere = ['HELD', 'FAILED', 'MANY'].map(code => ({ key: code, code, message: code }))
  const shown = (...told: Alert[]) =>
    alerts({ recorded: { alerts: told }, problem: null } as unknown as Facts).text
  expect(shown(waits)).toMatch(/^\s*<section id="late" class="">.*A picture has waited for 25 hours/s)
  expect(shown(refused)).toMatch(/^<section id="attention" class="bad">.*The key is refused/s)
  expect(shown(...shownElsewhere).trim()).toBe('')
})

const group = (folder: string, more: Partial<ToDecide>): ToDecide => {
  return { folder, images: [1], held: 0, gone: 1, since: 0, until: null, shown: [], ...more }
}
const decided = (...toDecide: ToDecide[]) => deletions({ toDecide } as unknown as Recorded, 'token').text

it('is red for deletions that wait for a person, and asks with the number of images', () => {
  const text = decided(
    group('/m/Trip', { images: [3, 1, 2], held: 3, gone: 3, since: 1001 }),
    group('/m/Old', { images: [4], until: '2026-12-01T00:00:00.000Z' }),
  )
  expect(text.match(/<section [^>]*>/g)).toEqual([
    '<section id="waits-%2Fm%2FTrip" class="bad">',
    '<section id="waits-%2Fm%2FOld" class="soon">',
  ])
  expect(text).toContain('2026-12-01T00:00:00.000Z')
  expect(text).toContain('albumd restore /m/Trip --at 1970-01-01T00:00:01.000Z<')
  const asked = [...text.matchAll(/popover role="dialog" aria-label="([^"?]*)/g)].map(
    ([, question]) => question,
  )
  expect(asked).toEqual([
    'Keep 4 images of all folders on the host',
    'Delete 4 images of all folders from the host',
    'Keep 3 images of /m/Trip on the host',
    'Delete 3 images of /m/Trip from the host',
    'Keep 1 image of /m/Old on the host',
    'Delete 1 image of /m/Old from the host',
  ])
  // With one folder nothing is asked about all.
  expect(decided(group('/m/Old', {}))).not.toContain('id="all"')
})

const failed = (path: string, code: string, message: string, next_attempt_at: string | null = null) => {
  return { mirror: '/m', path, code, message, next_attempt_at, in_doubt: false, needs_person: false }
}
const shownOf = (list: ReturnType<typeof failed>[]) => {
  const status = { failures: list, mirrors: [{ failed: list.length, uncertain: 0 }] }
  return failures({ status, alerts: [] } as unknown as Recorded, 'token')!.text
}

it('groups failures by folder and reason', () => {
  const text = shownOf([
    failed('a/1.png', 'X', 'the same'),
    failed('a/2.png', 'X', 'the same'),
    failed('a/3.png', 'Y', 'one'),
    failed('a/4.png', 'Y', 'another'),
    failed('b/5.png', 'X', 'the same'),
  ])
  expect(text.match(/the same/g)).toHaveLength(2)
  expect(text.match(/2 pictures/g)).toHaveLength(1)
  for (const message of ['one', 'another']) expect(text).toContain(`<p>${message} <code>Y</code></p>`)
})

it('says once what is alike of failures, and offers a retry only where a retry can help', () => {
  const text = shownOf([
    failed('a/1.png', 'X', 'Damaged (at byte 1). Replace it'),
    failed('a/2.png', 'X', 'Damaged (at byte 2). Replace it'),
  ])
  expect(text).toContain('<p>Damaged. Replace it <code>X</code></p>')
  expect(text).not.toContain('Retry')
  const later = '2026-12-01T00:00:00.000Z'
  expect(shownOf([failed('a/1.png', 'X', 'no', later)]).match(/>Retry/g)).toHaveLength(2)
  const unsure = shownOf([failed('a/1.png', 'UNCERTAIN', 'no', later)])
  expect(unsure).toContain('finds out whether 1 picture arrived')
  expect(unsure).not.toMatch(/Trouble|Retry/)
})

it('shows of very many failures twenty folders', () => {
  const text = shownOf(Array.from({ length: 1000 }, (_, n) => failed(`${n % 100}/${n}.png`, 'X', 'x')))
  expect(text.match(/id="failed-/g)).toHaveLength(20)
  expect(text).toContain('and 800 more')
})

it('a template escapes all that is put into it, in text and in attributes', () => {
  const name = `"><script>'&\`\n\u202egnp\u200b.exe`
  const { text } = html`<b title="${name}">${[name, html`<i>${1}</i>`]}${null}${false}</b>`
  const escaped = '&#34;&#62;&#60;script&#62;&#39;&#38;&#96;\\u000a\\u202egnp\\u200b.exe'
  expect(text).toBe(`<b title="${escaped}">${escaped}<i>1</i></b>`)
})

it("finds the user of a connection's other end, and none that has hung up", () => {
  const line = (local: string, remote: string, state: string, user: number, inode: number) =>
    `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${user}        0 ${inode} 1 0 20 4 30 10 -1`
  const head =
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
  const table = (...lines: string[]) => [head, ...lines, ''].join('\n')
  const ends = { remoteAddress: '127.0.0.1', remotePort: 40_000, localAddress: '127.0.0.1', localPort: 8687 }
  const there = '0100007F:9C40'
  const here = '0100007F:21EF'
  expect(userIn(table(line(here, there, '01', 0, 7), line(there, here, '01', 1000, 8)), ends)).toBe(1000)
  // This side's own end tells nothing of the other.
  expect(userIn(table(line(here, there, '01', 1000, 7)), ends)).toBeNull()
  // A socket that was closed seems to be root's.
  expect(userIn(table(line(there, here, '05', 0, 0)), ends)).toBeNull()
  expect(userIn(table(line(there, here, '01', 0, 0)), ends)).toBeNull()
  expect(userIn(table(line('0200007F:9C40', here, '01', 1000, 8)), ends)).toBeNull()
  const six = '00000000000000000000000001000000'
  const sixEnds = { ...ends, remoteAddress: '::1', localAddress: '::1' }
  expect(userIn(table(line(`${six}:9C40`, `${six}:21EF`, '01', 5, 8)), sixEnds)).toBe(5)
  const mapped = { ...ends, remoteAddress: '::ffff:127.0.0.1', localAddress: '::ffff:127.0.0.1' }
  expect(userIn(table(line(there, here, '01', 6, 8)), mapped)).toBe(6)
})

it('knows its own addresses, and its own page', () => {
  for (const host of ['127.0.0.1:8687', 'localhost', 'LOCALHOST:1', '[::1]:8687', '192.168.1.5:80'])
    expect(isOwnHost(host), host).toBe(true)
  for (const host of [
    undefined,
    '',
    'nas',
    'nas.local:8687',
    'localhost.evil',
    'a@127.0.0.1',
    '127.0.0.1/x',
    '127.0.0.1?x',
  ])
    expect(isOwnHost(host), host).toBe(false)
  expect(isOwnOrigin('http://127.0.0.1:8687', '127.0.0.1:8687')).toBe(true)
  expect(isOwnOrigin('https://photos.example', 'photos.example')).toBe(true)
  for (const origin of [
    undefined,
    'null',
    'http://127.0.0.1',
    'http://127.0.0.1:8688',
    'http://localhost:8687',
  ])
    expect(isOwnOrigin(origin, '127.0.0.1:8687'), origin).toBe(false)
})

it('keeps its key, and makes another where others could read it or it is cut off', () => {
  const folder = tempFolder()
  const file = join(folder, 'page.key')
  const key = readOrMakeKey(file)
  expect(readOrMakeKey(file)).toBe(key)
  chmodSync(file, 0o644)
  const other = readOrMakeKey(file)
  expect(other).not.toBe(key)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, other.slice(0, 20))
  expect(readOrMakeKey(file)).toMatch(/^[\w-]{43}$/)
  expect(readOrMakeKey(join(folder, 'missing/page.key'))).toMatch(/^[\w-]{43}$/)
})

it('measures how fast pictures go, over the last seconds', () => {
  let now = 0
  const underWay = new UnderWayPictures(() => now)
  const of = { mirror: '/m', path: 'a.png', size: 3000 }
  underWay.hear({ ...of, sent: 0 })
  for (const sent of [1000, 2000, 3000]) {
    now += 1000
    underWay.hear({ ...of, sent })
  }
  expect(underWay.pictures()).toMatchObject([{ path: 'a.png', sent: 3000 }])
  expect(underWay.rate().bytes).toBe(1000)
  underWay.hear({ ...of, sent: null })
  expect(underWay.pictures()).toEqual([])
  now += 11_000
  expect(underWay.rate()).toEqual({ bytes: 0, pictures: 0 })
})

it('names retry where the quota is used up, as status does', () => {
  const of = { plan: 'free', limit: 9, used: 9, reserve: 0, resumes_at: null, next_probe_at: null }
  const shown = (exhausted: boolean) => {
    const status = { quota: { ...of, exhausted }, blocks: [], store: null, machines: [] }
    return quota({ status, alerts: [] } as unknown as Recorded, 0).text
  }
  expect(shown(true)).toContain('albumd retry')
  expect(shown(false)).not.toContain('albumd retry')
})
