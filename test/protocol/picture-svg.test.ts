import { describe, expect, test } from 'vitest'
import { readPicture } from '../../src/protocol/picture/picture.ts'
import { sourceOf } from './sources.ts'

function svg(width: number | null, height: number | null) {
  return { format: 'svg', mime: 'image/svg+xml', width, height }
}

function read(text: string, encoding: BufferEncoding = 'utf8') {
  return readPicture(sourceOf(Buffer.from(text, encoding)))
}

const ROOT = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><path d="M0 0"/></svg>'

describe('an SVG', () => {
  test.each([
    ['at once', ''],
    ['after a declaration', '<?xml version="1.0" encoding="UTF-8"?>\n'],
    ['after blank lines', '\r\n\t '],
    ['after a comment with a tag in it', '<!-- <svg width="1" height="1"> -->'],
    ['after a stylesheet', '<?xml-stylesheet href="a.css"?>'],
    ['after a DOCTYPE', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">'],
    [
      'after a DOCTYPE with declarations',
      `<!DOCTYPE svg [ <!ENTITY a "]><svg width='1' height='1'>"> <!-- isn't ]> --> <?x ]> ?> <!ENTITY b 'b'> ]>`,
    ],
    ['after a comment of 300 KB', `<!--${' long'.repeat(60_000)}-->`],
  ])('is known by a root element that comes %s', async (_name, prolog) => {
    expect(await read(prolog + ROOT)).toEqual(svg(120, 80))
  })

  test('is known in UTF-8 and UTF-16 of both orders, with a byte order mark and without', async () => {
    const texts = [`\ufeff${ROOT}`, ROOT]
    for (const text of texts) {
      expect(await read(text)).toEqual(svg(120, 80))
      expect(await read(text, 'utf16le')).toEqual(svg(120, 80))
      expect(await readPicture(sourceOf(Buffer.from(text, 'utf16le').swap16()))).toEqual(svg(120, 80))
    }
  })

  test('is known wherever the first read cuts it', async () => {
    const prologs = ['<!---->', '<!DOCTYPE svg>', '<?p ?>', '']
    for (const prolog of prologs) {
      for (let before = 64 * 1024 - prolog.length - 90; before <= 64 * 1024; before++) {
        expect(await read(' '.repeat(before) + prolog + ROOT)).toEqual(svg(120, 80))
      }
    }
  })

  test('is known by a name with a prefix', async () => {
    const root = '<s:svg xmlns:s="http://www.w3.org/2000/svg" width="120" height="80"/>'
    expect(await read(root)).toEqual(svg(120, 80))
  })

  test.each([
    ['pixels', 'width="120px" height="80px"', 120, 80],
    ['inches and points', "width='2in' height='60pt'", 192, 80],
    ['centimetres and millimetres', 'width="2.54cm" height="25.4mm"', 96, 96],
    ['fractions of a pixel, rounded', 'width="119.6" height="80.4"', 120, 80],
    ['white space around the sign and the value', 'width = " 120 "\n\theight\n=\n"80"', 120, 80],
    ['a viewBox alone', 'viewBox="0 0 24 48"', 24, 48],
    ['a viewBox with commas', 'viewBox="-5,-5, 24,48"', 24, 48],
    [
      'a viewBox, for the lengths are shares of the page',
      'width="100%" height="100%" viewBox="0 0 24 48"',
      24,
      48,
    ],
    ['one length and a viewBox’s shape', 'width="48" viewBox="0 0 24 48"', 48, 96],
  ])('has the size that its root states in %s', async (_name, attributes, width, height) => {
    expect(await read(`<svg ${attributes}/>`)).toEqual(svg(width, height))
  })

  test.each([
    ['nothing', ''],
    ['shares of the page', 'width="100%" height="100%"'],
    ['one length alone', 'width="120"'],
    ['zero', 'width="0" height="80"'],
    ['a negative length', 'width="-5" height="80"'],
    ['words', 'width="auto" height="auto"'],
    ['more than any picture has', 'width="1e12" height="80"'],
    ['a viewBox of no extent', 'viewBox="0 0 0 0"'],
    ['attributes that only sound alike', 'data-width="5" stroke-width="5" Height="5"'],
    ['text in an attribute that looks like lengths', `title=' width="5" height="5"'`],
  ])('has no size where its root states %s', async (_name, attributes) => {
    expect(await read(`<svg ${attributes}></svg>`)).toEqual(svg(null, null))
  })
})

describe('text', () => {
  test.each([
    ['HTML with an SVG in it', `<!DOCTYPE html><html><body>${ROOT}</body></html>`],
    ['HTML in lower case', `<!doctype html><html>${ROOT}</html>`],
    ['XML of another kind', `<?xml version="1.0"?><plist>${ROOT}</plist>`],
    ['XML whose root’s name begins alike', '<svgs width="1" height="1"/>'],
    ['prose that mentions it', `An example: ${ROOT}`],
    ['a root in capitals', '<SVG width="1" height="1"/>'],
    ['a root that is never closed', '<svg width="120" height="80"'],
    ['a comment that is never closed', `<!-- ${ROOT}`],
    ['a DOCTYPE that is never closed', `<!DOCTYPE svg [ ${ROOT}`],
    ['nothing', ''],
  ])('is no picture where it is %s', async (_name, text) => {
    expect(await read(text)).toBeNull()
  })

  test('is read again at greater length only where a root element may follow', async () => {
    const filler = '/'.repeat(100_000)
    for (const text of [
      '<svgs />',
      '<svg width="1"',
      `<svgs ${filler}`,
      `Prose ${filler}`,
      `<html>${filler}`,
    ]) {
      const source = sourceOf(Buffer.from(text))
      expect(await readPicture(source)).toBeNull()
      expect(source.reads).toBe(1)
    }
  })

  test.each([
    ['opening tags', '<svg '],
    ['attributes', '<svg a="'],
    ['comments', '<!---->'],
    ['quotes in a DOCTYPE', '<!DOCTYPE "'],
    ['blanks', ' '],
    ['one name', '<svg_'],
  ])('that repeats %s for 600 KB ends as no picture, after few reads', async (_name, unit) => {
    const source = sourceOf(Buffer.alloc(600_000, unit))
    expect(await readPicture(source)).toBeNull()
    expect(source.reads).toBeLessThanOrEqual(10)
    expect(source.longestRead).toBeLessThanOrEqual(64 * 1024)
  })
})
