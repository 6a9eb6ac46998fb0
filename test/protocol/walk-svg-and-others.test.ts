import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteReader, type ByteSource } from '../../src/protocol/byte-reader.ts'
import { walkBmp } from '../../src/protocol/picture/bmp.ts'
import { foreignKind, walkUnknown } from '../../src/protocol/picture/foreign.ts'
import { walkGif } from '../../src/protocol/picture/gif.ts'
import { walkIco } from '../../src/protocol/picture/ico.ts'
import type { Walk } from '../../src/protocol/picture/part.ts'
import { walkPng } from '../../src/protocol/picture/png.ts'
import { walkSvg } from '../../src/protocol/picture/svg.ts'
import { walkTiff } from '../../src/protocol/picture/tiff.ts'
import { walkWebp } from '../../src/protocol/picture/webp.ts'
import { be16, be32, bytes, le16, le32 } from './bytes.ts'
import { SparseSource } from './sources.ts'
import { partsOf, verdictOf } from './verdicts.ts'

const CLOSED = { kind: 'closed', early: true }
const LATE = { kind: 'closed', early: false }

describe('an SVG is closed', () => {
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
    expect(await verdictOf(walkSvg, text)).toEqual(CLOSED)
    const end = text.trimEnd().length
    for (let length = text.indexOf('<svg ') + 5; length < end; length += 3)
      expect(await verdictOf(walkSvg, text.slice(0, length))).toMatchObject({ kind: 'missing', code: 'cut' })
    expect(await verdictOf(walkSvg, text.slice(0, end - 1))).toMatchObject({ kind: 'missing', code: 'cut' })
  })

  test('with more behind it, and may then go on', async () => {
    expect(await verdictOf(walkSvg, '<svg></svg><!-- made by hand -->')).toEqual(LATE)
    expect(await verdictOf(walkSvg, '<svg></svg>\n\0')).toEqual(LATE)
    expect(await verdictOf(walkSvg, '<svg></svg>', Buffer.alloc(99))).toMatchObject({
      kind: 'odd',
      code: 'zeros',
    })
  })

  test.each(['utf-16le', 'utf-16be'])('in %s', async encoding => {
    const wide = (text: string) => {
      const little = Buffer.from(`\u{FEFF}${text}`, 'utf16le')
      return encoding === 'utf-16le' ? little : little.swap16()
    }
    const whole = wide('<svg><text>größer 大</text></svg>\n')
    expect(await verdictOf(walkSvg, whole)).toEqual(CLOSED)
    expect((await partsOf(walkSvg, whole)).at(-1)).toMatchObject({ role: 'end', to: whole.length })
    const cut = await verdictOf(walkSvg, wide('<svg><text>größer 大</text></sv'))
    expect(cut).toMatchObject({ kind: 'missing', code: 'cut' })
    const hole = await verdictOf(walkSvg, wide('<svg><text>\0</text></svg>'))
    expect(hole).toMatchObject({ kind: 'missing', code: 'unwritten', at: 24 })
  })
})

describe('an SVG is missing', () => {
  test.each([
    ['behind the end of an inner one', 'cut', '<svg><svg></svg>'],
    ['within a comment', 'cut', '<svg><!-- </svg>'],
    ['within CDATA', 'cut', '<svg><![CDATA[</svg>]]'],
    ['within its own tag', 'cut', '<svg width="1" height="/>"'],
    ['where zeros follow', 'unwritten', `<svg><g/>${'\0'.repeat(500)}`],
    ['with zeros in it', 'unwritten', `<svg><!-- ${'\0'.repeat(500)} --></svg>`],
    ['with zeros before it', 'unwritten', `<!-- ${'\0'.repeat(500)} --><svg></svg>`],
  ])('%s', async (_, code, text) => {
    expect(await verdictOf(walkSvg, text)).toMatchObject({ kind: 'missing', code })
  })
})

test('a long SVG is read in windows: its signs may stand across the border of two', async () => {
  for (let length = 65_300; length < 65_560; length++) {
    const start = `<svg a="${'x'.repeat(length)}"`
    expect(await verdictOf(walkSvg, start, '><svg b=">"/><!-- </svg> --></svg>')).toEqual(CLOSED)
    expect(await verdictOf(walkSvg, start, '><svg b=">"/><!-- </svg> -->')).toMatchObject({ kind: 'missing' })
  }
})

describe('bytes that are no picture', () => {
  test.each([
    ['zeros', Buffer.alloc(5000)],
    ['a page of zeros', bytes(Buffer.alloc(4096), 'the end of a picture')],
    ['nothing', bytes()],
  ])('are yet to become one: %s', async (_, file) => {
    expect(await verdictOf(walkUnknown, file)).toMatchObject({ kind: 'missing', code: 'unwritten' })
  })

  test.each([
    ['prose', bytes('It was a dark and stormy night.')],
    ['a word', bytes('no')],
    ['a page of HTML', bytes('<!DOCTYPE html><html><body>404</body></html>')],
    ['a film', bytes(be32(24), 'ftypmp42', Buffer.alloc(100, 1))],
    ['the first bytes of a PNG', bytes('\x89PN')],
    ['the first lines of an SVG', bytes('<?xml version="1.0"?>\n<!-- drawn by hand, with a pen')],
    ['encrypted bytes that begin like a tag', bytes('<', Buffer.alloc(100, 0x1d))],
  ])('are something else: %s', async (_, file) => {
    expect(await verdictOf(walkUnknown, file)).toEqual(LATE)
  })

  const box = (brand: string) => bytes(be32(24), 'ftyp', brand, be32(0), brand)
  test.each([
    ['HEIC', box('heic')],
    ['HEIC', box('mif1')],
    ['AVIF', box('avif')],
    ['RAW', box('crx ')],
    ['RAW', bytes('II*\0', le32(16), 'CR\x02\0', le32(0))],
    ['RAW', bytes('FUJIFILMCCD-RAW 0201')],
    ['RAW', bytes('IIRO', le32(8))],
    ['RAW', bytes('IIU\0', le32(8))],
    ['JPEG 2000', bytes(be32(12), 'jP  \r\n\x87\n')],
    ['JPEG 2000', bytes(0xff, 0x4f, 0xff, 0x51, 0)],
    ['JPEG XL', bytes(be32(12), 'JXL \r\n\x87\n')],
    ['JPEG XL', bytes(0xff, 0x0a, 0xf8)],
    ['BigTIFF', bytes('MM\0+', be16(8), be16(0))],
    ['cursor', bytes(le16(0), le16(2), le16(1), 32, 32, 0, 0)],
    ['gzip', bytes(0x1f, 0x8b, 8, 0)],
    ['PDF', bytes('%PDF-1.7\n')],
    ['HTML', bytes('\xef\xbb\xbf\r\n <!doctype HTML>')],
    ['HTML', bytes('<?xml version="1.0"?>\n<!-- a --><!-- b -->\n<html lang="en">')],
    [null, bytes('It was a dark and stormy night.')],
    [null, bytes('<svg><html></html></svg>')],
    [null, bytes('<!-- -->'.repeat(120))],
    [null, box('mp42')],
    [null, bytes()],
  ])('are named by their first bytes: %s', (name, file) => {
    expect(foreignKind(file.toString('latin1'))).toBe(name)
  })
})

describe('whatever the bytes', () => {
  const walks = [walkPng, walkGif, walkWebp, walkBmp, walkIco, walkTiff, walkSvg, walkUnknown]
  const starts = [
    bytes('\x89PNG\r\n\x1a\n'),
    bytes('GIF89a', le16(1), le16(1), 0, 0, 0),
    bytes('RIFF', le32(200), 'WEBP'),
    bytes('BM', le32(100), le32(0), le32(54), le32(40)),
    bytes('II*\0', le32(8), le16(3)),
    bytes('MM\0*', be32(16)),
    bytes(0, 0, 1, 0, 2, 0),
    bytes('<svg>'),
    bytes('<!DOCTYPE ['),
  ]

  test('there are parts that lie in order of their own bytes, and nothing is thrown', async () => {
    const files = fc
      .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }))
      .map(([start, rest]) => bytes(start, rest))
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom(...walks), async (file, walk) => {
        const parts = await partsOf(walk, file)
        expect(parts.length).toBeGreaterThan(0)
        expect(parts.every(({ from, to }) => from >= 0 && to >= from)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })

  test('no read is longer than 64 KiB, and what is read does not exceed the file by much', async () => {
    for (const start of starts)
      for (const walk of walks) {
        const source = new SparseSource(2e6, [{ at: 0, bytes: start }])
        await drain(walk, source)
        expect(source.longestRead).toBeLessThanOrEqual(64 * 1024)
        expect(source.bytesRead).toBeLessThanOrEqual(2.2e6)
      }
  })

  test('a source that can’t be read rejects with its own error, and one that turns out shorter is walked', async () => {
    const failure = Object.assign(new Error('i/o error, read'), { code: 'EIO' })
    const dead = { size: 100, read: () => Promise.reject(failure) }
    for (const walk of walks) {
      await expect(drain(walk, dead)).rejects.toBe(failure)
      for (const start of starts) await drain(walk, { size: 5000, read: async at => start.subarray(at) })
    }
  })

  async function drain(walk: Walk, source: ByteSource): Promise<void> {
    for await (const _ of walk(new ByteReader(source)));
  }
})
