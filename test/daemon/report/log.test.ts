import { fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import type { Logger } from 'pino'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import { LOG_EVENTS, logEvent, openLog, withoutAddresses } from '../../../src/daemon/report/log.ts'
import type { SpokenEvent } from '../../../src/sync/pass-events.ts'

const uploaded: SpokenEvent = {
  event: 'picture_uploaded',
  mirror: '/p',
  path: 'a.png',
  size: 1,
  cdn_url: 'https://cdn.example.com/i/1',
}
const failed: SpokenEvent = {
  event: 'picture_failed',
  mirror: '/p',
  path: 'b.png',
  code: 'X',
  message: 'bad',
}
const unchanged: SpokenEvent = { event: 'picture_unchanged', mirror: '/p', path: 'c.png', size: 1 }

const KEY = 'a+key/0123456789='

function lines(
  settings: Partial<Config['log']>,
  tell: (log: Logger) => void,
  more: { isTTY?: boolean; fd?: number; env?: NodeJS.ProcessEnv } = {},
): string[] {
  const { isTTY = false, fd, env = {} } = more
  const stream = new PassThrough({ encoding: 'utf8' })
  const out = Object.assign(stream, { isTTY, fd }) as unknown as NodeJS.WriteStream
  tell(openLog({ level: 'info', format: 'auto', ...settings }, { out, secrets: new Set([KEY]), env }))
  return String(stream.read() ?? '')
    .split('\n')
    .filter(Boolean)
}

function written(settings: Partial<Config['log']>, told: SpokenEvent[], isTTY = false): string[] {
  return lines(
    settings,
    log => {
      for (const event of told) logEvent(log, event)
    },
    { isTTY },
  )
}

describe('the log', () => {
  it('is one JSON object a line where the output is no terminal, with the event, its fields and its time', () => {
    const [line, ...rest] = written({}, [uploaded])
    expect(rest).toEqual([])
    expect(JSON.parse(line!)).toMatchObject({ ...uploaded, level: 30, msg: 'picture uploaded' })
    expect(JSON.parse(line!).time).toMatch(/^\d{4}-\d\d-\d\dT/)
  })

  it('has lines for people on a terminal', () => {
    const [line] = written({}, [uploaded], true)
    expect(line).toContain('picture uploaded: /p/a.png, size 1, https://cdn.example.com/i/1')
    expect(line).not.toContain('{')
  })

  it.each([true, false])('shows no control characters of a name (on a terminal: %s)', isTTY => {
    const path = 'a\u001b[2J\u009b31m\n\u202eb.png'
    const tell = (log: Logger) => logEvent(log, { ...failed, path }, `about ${path}`)
    const told = lines({}, tell, { isTTY, env: { NO_COLOR: '1' } })
    expect(told).toHaveLength(1)
    expect(told[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  })

  it('begins each line with its priority for journald', () => {
    const lines = written({ format: 'journal', level: 'debug' }, [uploaded, failed, unchanged])
    expect(lines.map(line => line.slice(0, 3))).toEqual(['<6>', '<4>', '<7>'])
    expect(JSON.parse(lines[1]!.slice(3))).toMatchObject({ event: 'picture_failed', code: 'X' })
  })

  it('leaves out events below its level', () => {
    expect(written({ level: 'warn' }, [uploaded, failed, unchanged])).toHaveLength(1)
  })
})

describe('the format of the log', () => {
  const told = (log: Logger) => logEvent(log, uploaded)
  const fd = openSync('/dev/null', 'r')
  const { dev, ino } = fstatSync(fd, { bigint: true })

  it("is journald\u2019s where the output is the journal's stream", () => {
    const [line] = lines({}, told, { fd, env: { JOURNAL_STREAM: `${dev}:${ino}` } })
    expect(line).toMatch(/^<6>\{/)
  })

  it.each([
    ['of another output', { fd, env: { JOURNAL_STREAM: `${dev}:${ino + 1n}` } }],
    ['of no output that is open', { fd: 99_999, env: { JOURNAL_STREAM: `${dev}:${ino}` } }],
    ['that is none', { fd, env: {} }],
  ])('is JSON where the stream is one %s', (_, more) => {
    const [line] = lines({}, told, more)
    expect(JSON.parse(line!)).toMatchObject({ event: 'picture_uploaded' })
  })
})

describe('secrets in the log', () => {
  const ways: [string, (log: Logger) => void][] = [
    ['a field', log => logEvent(log, { ...failed, message: `no such key: ${KEY}` } as SpokenEvent)],
    ['a path', log => logEvent(log, { ...failed, path: `${KEY}.png` } as SpokenEvent)],
    ['a line', log => logEvent(log, { event: 'warning' }, `the key ${KEY} is wrong`)],
    [
      'an error',
      log => log.error(Object.assign(new Error(`X-API-Key: ${KEY}`), { headers: { 'x-api-key': KEY } })),
    ],
    [
      'an error\u2019s cause',
      log => log.error({ err: new Error('failed', { cause: new Error(KEY) }) }, 'failed'),
    ],
    [
      'an address',
      log => logEvent(log, { event: 'warning' }, `GET https://h/?k=${encodeURIComponent(KEY)} failed`),
    ],
    ['Authorization', log => log.warn(`Basic ${Buffer.from(KEY).toString('base64')}`)],
  ]

  it.each(ways)('are not shown: the key in %s', (_, tell) => {
    for (const format of ['json', 'journal', 'pretty'] as const) {
      const text = lines({ format }, tell).join('\n')
      expect(text).not.toBe('')
      for (const written of [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')])
        expect(text).not.toContain(written)
    }
  })

  it('are not shown: upload addresses, while those of pictures are', () => {
    const address = 'https://node.example.com/put/credential-0123456789?x=1'
    const shown = lines({}, log => {
      logEvent(log, { ...failed, message: `POST ${address} failed` } as SpokenEvent)
      log.error({ err: new Error(`at ${address}`) }, `again ${address}`)
      logEvent(log, uploaded)
    })
    expect(shown.join('\n')).not.toContain('credential')
    expect(JSON.parse(shown[0]!)).toMatchObject({ message: 'POST https://node.example.com/… failed' })
    expect(withoutAddresses('such as https://h.example/api/v1; it stays')).toBe(
      'such as https://h.example/…; it stays',
    )
    expect(JSON.parse(shown[1]!)).toMatchObject({
      err: { type: 'Error', stack: expect.stringContaining('Error: at') },
    })
    expect(JSON.parse(shown[2]!)).toMatchObject({
      cdn_url: uploaded.event === 'picture_uploaded' && uploaded.cdn_url,
    })
  })
})

describe('the list of events', () => {
  const root = new URL('../../../src/', import.meta.url)
  const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(name => /^(sync|daemon|cli)\/.*\.ts$/.test(name))
    // The events of a restore are shown on a terminal, and not logged.
    .filter(name => !/(log-events|pass-events|daemon-event|restore\/[\w-]+)\.ts$/.test(name))
    .map(name => readFileSync(new URL(name, root), 'utf8'))
    .join('\n')

  it('has every event that the code publishes', () => {
    const told = code.matchAll(/(?:emit|note|logEvent\(log,)\s*\(?\s*\{\s*event: '(\w+)'/g)
    const names = new Set([...told].map(([, name]) => name!))
    expect(names.size).toBeGreaterThan(15)
    for (const name of names) expect(Object.keys(LOG_EVENTS)).toContain(name)
  })

  it('has no event that the code never publishes', () => {
    for (const name of Object.keys(LOG_EVENTS)) expect(code, name).toContain(`event: '${name}'`)
  })
})
