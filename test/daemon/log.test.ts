import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import { logEvent, openLog } from '../../src/daemon/log.ts'
import type { PassEvent } from '../../src/sync/pass-events.ts'

const uploaded: PassEvent = {
  event: 'picture_uploaded',
  mirror: '/p',
  path: 'a.png',
  size: 1,
  cdn_url: 'https://cdn.example.com/i/1',
}
const failed: PassEvent = { event: 'picture_failed', mirror: '/p', path: 'b.png', code: 'X', message: 'bad' }
const unchanged: PassEvent = { event: 'picture_unchanged', mirror: '/p', path: 'c.png', size: 1 }

/** What the log writes of these events, line by line. */
function written(settings: Partial<Config['log']>, told: PassEvent[], isTTY = false): string[] {
  const out = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY }) as unknown as NodeJS.WriteStream
  const log = openLog({ level: 'info', format: 'auto', ...settings }, out)
  for (const event of told) logEvent(log, event)
  return String(out.read() ?? '')
    .split('\n')
    .filter(Boolean)
}

describe('the log', () => {
  it('has one JSON object a line where nobody looks, with the event, its fields and its time', () => {
    const [line, ...rest] = written({}, [uploaded])
    expect(rest).toEqual([])
    expect(JSON.parse(line!)).toMatchObject({ ...uploaded, level: 30, msg: 'picture uploaded' })
    expect(JSON.parse(line!).time).toMatch(/^\d{4}-\d\d-\d\dT/)
  })

  it('has lines for people on a terminal', () => {
    const [line] = written({}, [uploaded], true)
    expect(line).toContain('picture uploaded')
    expect(() => JSON.parse(line!)).toThrow()
  })

  it('begins each line with its priority for journald', () => {
    const lines = written({ format: 'journal', level: 'debug' }, [uploaded, failed, unchanged])
    expect(lines.map(line => line.slice(0, 3))).toEqual(['<6>', '<4>', '<7>'])
    expect(JSON.parse(lines[1]!.slice(3))).toMatchObject({ event: 'picture_failed', code: 'X' })
  })

  it('leaves out what is below its level', () => {
    expect(written({ level: 'warn' }, [uploaded, failed, unchanged])).toHaveLength(1)
  })
})
