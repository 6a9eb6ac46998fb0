import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HEIC_PROBLEMS } from '../../src/daemon/heic/problem.ts'
import { FLAWS } from '../../src/protocol/picture/part.ts'
import { because, CODES, codeOf, endsByItself, inWords, type Reason, said } from '../../src/words/reasons.ts'

const SRC = join(import.meta.dirname, '../../src')

describe('reasons', () => {
  it('keep their facts, also reasons inside of reasons', () => {
    const why = because('bytes_not_compared', { why: because('address_answered', { status: 404 }) })
    expect(codeOf(why)).toBe('bytes_not_compared')
    expect(inWords(why)).toContain('the delivery address answered 404')
    expect(inWords(said('no "quota" left'))).toBe('no "quota" left')
  })

  it('hold plain text as a fact too, in which no reason is looked for', () => {
    const why = because('folder_in_doubt', {
      path: '/p/a',
      others: 1,
      why: because('ignore_file_unreliable', { code: 'EIO', why: 'EIO: i/o error' }),
    })
    expect(endsByItself(why)).toBe(false)
    expect(inWords(why)).toContain('because of /p/a and 1 more (Ignore file ')
  })

  it('of a code that another version of albumd has recorded are told in a sentence', () => {
    const other = because('at_path', { path: 'a', why: because('code_of_another' as 'gone') })
    expect(inWords(other)).toBe(
      'another version of albumd recorded why, and this version has no words for it (code_of_another), in a',
    )
  })

  it('of what is wrong with a picture are sentences, whatever its part is called', () => {
    const told = (code: keyof typeof FLAWS, part: string) => inWords(because(`flaw_${code}`, { part, at: 9 }))
    const cut = (part: string) => `the picture ends at byte 9, before the end of ${part}`
    for (const [part, named] of [
      ['DHT', 'DHT'],
      ['film', 'the film'],
      ['pixels', 'the pixels'],
      ['strip 3', 'strip 3'],
      ['chunk IDAT', 'chunk IDAT'],
      ['image 2, scan', 'the scan of image 2'],
      ['image 1, chunk IEND', 'chunk IEND of image 1'],
    ] as const)
      expect(told('cut', part)).toBe(cut(named))
    expect(told('unwritten', 'next segment')).toBe('zeros stand at byte 9 in place of the next segment')
    expect(told('unwritten', 'offset of strip 3')).toContain('in place of the offset of strip 3')
  })

  it('leave out what was not recorded, with its brackets', () => {
    const without = JSON.stringify(['incomplete', {}]) as unknown as Reason
    expect(inWords(without)).toBe(
      'Part of the picture is missing or damaged, so perhaps it is still being written',
    )
  })

  it('name a path so that a shell takes it', () => {
    const folder = "/srv/it's here"
    expect(inWords(because('root_empty', { folder }))).toContain(`albumd trust '/srv/it'\\''s here'`)
  })

  it('are all raised by something: a code that is no longer raised loses its words', () => {
    const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => readFileSync(join(SRC, name), 'utf8'))
      .join('\n')
    const isRaised = (code: string) =>
      sources.includes(`'${code}'`) ||
      Object.keys(FLAWS).includes(code.replace(/^flaw_/, '')) ||
      Object.keys(HEIC_PROBLEMS).includes(code.replace(/^heic_/, ''))
    expect(CODES.filter(code => code !== 'said' && !isRaised(code))).toEqual([])
  })
})
