import { describe, expect, test } from 'vitest'
import { bytes } from './bytes.ts'
import { endingOf } from './endings.ts'

const CLOSED = { kind: 'closed' }
const WHOLE = { kind: 'whole' }
const CUT = { kind: 'cut', missing: 'the closing tag of its root element is missing' }

describe('an SVG is complete', () => {
  test.each([
    ['with its closing tag', '<svg width="1" height="1"><g/></svg>'],
    ['with white space behind it', '<svg ><g/></svg >\r\n\t \n'],
    ['with an empty root', '<svg width="1" height="1"/>'],
    ['with others of its name inside', '<svg><svg><svg/></svg><svg x="/>"></svg></svg>'],
    ['with a name space of its own', '<s:svg xmlns:s="…"><svg><s:svg/></s:svg>'],
    ['with a name that another begins with', '<svg><svgx><svg-y></svg>'],
    ['behind a prolog', '<?xml version="1.0"?><!-- <svg> --><!DOCTYPE svg><svg></svg>'],
    ['behind a long DOCTYPE', `<!DOCTYPE svg [<!ENTITY a "]>"><!-- ' --><?x ">?>]><svg>&a;</svg>`],
    [
      'with tags in comments, CDATA and quotes',
      '<svg a="/>"><!--</svg>--><![CDATA[</svg>]]><?x </svg>?></svg>',
    ],
  ])('%s', async (_, text) => {
    expect(await endingOf(text)).toEqual(CLOSED)
    const end = text.trimEnd().length
    for (let length = text.indexOf('<svg ') + 5; length < end; length += 3)
      expect((await endingOf(text.slice(0, length))).kind).toBe('cut')
    expect((await endingOf(text.slice(0, end - 1))).kind).toBe('cut')
  })

  test('with more behind it, and may then go on', async () => {
    expect(await endingOf('<svg></svg><!-- made by hand -->')).toEqual(WHOLE)
  })

  test.each(['utf-16le', 'utf-16be'])('in %s', async encoding => {
    const wide = (text: string) => {
      const little = Buffer.from(`\u{FEFF}${text}`, 'utf16le')
      return encoding === 'utf-16le' ? little : little.swap16()
    }
    expect(await endingOf(wide('<svg><text>größer 大</text></svg>\n'))).toEqual(CLOSED)
    expect(await endingOf(wide('<svg><text>größer 大</text></sv'))).toEqual(CUT)
  })
})

describe('an SVG is not complete', () => {
  test.each([
    ['behind the end of an inner one', '<svg><svg></svg>'],
    ['within a comment', '<svg><!-- </svg>'],
    ['within CDATA', '<svg><![CDATA[</svg>]]'],
    ['within its own tag', '<svg width="1" height="/>"'],
    ['where zeros follow', `<svg><g/>${'\0'.repeat(500)}`],
  ])('%s', async (_, text) => {
    expect((await endingOf(text)).kind).toBe('cut')
  })
})

test('a long SVG is read in windows: its signs may stand across the border of two', async () => {
  for (let length = 65_300; length < 65_560; length++) {
    const start = `<svg a="${'x'.repeat(length)}"`
    expect(await endingOf(bytes(start, '><svg b=">"/><!-- </svg> --></svg>'))).toEqual(CLOSED)
    expect(await endingOf(bytes(start, '><svg b=">"/><!-- </svg> -->'))).toEqual(CUT)
  }
})
