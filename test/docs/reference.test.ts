import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { referencePages } from '../../scripts/docs/pages.ts'

const pages = await referencePages()

describe('docs/reference', () => {
  it.each(Object.entries(pages))('%s is what `npm run docs` writes', (name, text) => {
    expect(readFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), 'utf8')).toBe(text)
  })

  it('says of every option and every operand what it is for', () => {
    const bare = pages['commands.md']!.split('\n').filter(line => /^\| `[^|]+` \| *\|$/.test(line))
    expect(bare).toEqual([])
  })

  it('names the fields of the events of a pass and of the daemon', () => {
    const bare = pages['log-events.md']!.split('\n').filter(line => /^\| `\w+` .*\| *\|$/.test(line))
    const events = bare.map(line => /`(\w+)`/.exec(line)?.[1])
    const OF_THE_PROCESS = ['warning', 'stopping', 'stopped']
    const BARE = ['config_taken', 'key_taken', 'heartbeat_works', 'trouble_resolved']
    expect(events).toEqual([...OF_THE_PROCESS, ...BARE])
  })
})
