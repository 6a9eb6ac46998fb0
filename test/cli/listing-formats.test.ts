import { expect, it } from 'vitest'
import { FORMATS, type Format, listing, onePicture } from '../../src/cli/terminal/listing-formats.ts'
import type { MirroredPicture } from '../../src/daemon/report/mirrored-pictures.ts'

const TERMINAL = { isTTY: true } as NodeJS.WriteStream
const NAME = `a "b", [x](y) <img onerror=1> & 'c'\n\`z\`*_!.png`
const URL = `https://cdn.example.com/i/1?a=1&lt;b=(2)<"'>\\`

function picture(changes: Partial<MirroredPicture> = {}): MirroredPicture {
  return {
    mirror: '/pictures',
    path: `a/${NAME}`,
    name: NAME,
    state: 'synced',
    older: false,
    flat: false,
    album: 'Photos/a',
    url: URL,
    sha256: '07'.repeat(32),
    image: {
      id: 1,
      remote_id: 'id-1',
      cdn_url: URL,
      album: 1,
      name: NAME,
      hash: Buffer.alloc(32, 7),
      size: 1536,
      mime: 'image/png',
      width: 1,
      height: 1,
      recorded_at: 1_700_000_000_000,
      proof: 'uploaded',
      kept: 0,
      mtime: null,
      data: null,
      listed: null,
      how: null,
    },
    ...changes,
  }
}

const shown = async (format: Format, pictures = [picture()]) =>
  [...(await listing(pictures, format, { oneMirror: true, out: null }))].join('')

it('is JSON, one object a line, that gives back names as they are', async () => {
  const text = await shown('json', [picture(), picture({ name: 'b.png', path: 'b.png', url: null })])
  expect(text.trimEnd().split('\n')).toHaveLength(4)
  const [first, second] = JSON.parse(text)
  expect(first).toEqual({
    path: `/pictures/a/${NAME}`,
    mirror: '/pictures',
    state: 'synced',
    older: false,
    flat: false,
    album: 'Photos/a',
    image_id: 'id-1',
    cdn_url: URL,
    size: 1536,
    sha256: '07'.repeat(32),
    proof: 'uploaded',
    recorded_at: '2023-11-14T22:13:20.000Z',
  })
  expect(second.cdn_url).toBeNull()
  expect(JSON.parse(await shown('json', []))).toEqual([])
  expect(JSON.parse(await onePicture(picture(), 'json', null))).toEqual(first)
})

it('is CSV as RFC 4180 has it', async () => {
  const [titles, row, end] = splitCsv(await shown('csv'))
  expect(titles).toEqual(['path', 'state', 'album', 'image_id', 'cdn_url', 'size', 'sha256'])
  expect(row).toEqual([`/pictures/a/${NAME}`, 'synced', 'Photos/a', 'id-1', URL, '1536', '07'.repeat(32)])
  expect(end).toBeUndefined()
})

it('can do nothing to a terminal in any format, and is exact where it goes elsewhere', async () => {
  const name = 'a\u001b[2J\u009b31m\r\n"\u202eb.png'
  const evil = picture({ name, path: name })
  const onTerminal = async (format: Format) =>
    [...(await listing([evil], format, { oneMirror: true, out: TERMINAL }))].join('')
  for (const format of FORMATS)
    expect((await onTerminal(format)).replaceAll('\r\n', '\n')).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
    )
  expect(splitCsv(await onTerminal('csv'))[1]![0]).toBe(
    '/pictures/a\\u001b[2J\\u009b31m\\u000d\\u000a"\\u202eb.png',
  )
  expect(splitCsv(await shown('csv', [evil]))[1]![0]).toBe(`/pictures/${name}`)
  expect(JSON.parse(await onTerminal('json'))[0].path).toBe(`/pictures/${name}`)
  expect(JSON.parse(await onePicture(evil, 'json', TERMINAL)).path).toBe(`/pictures/${name}`)
  expect(await onePicture(evil, 'json', TERMINAL)).not.toContain('\u009b')
})

it('is HTML in which no name is markup', async () => {
  const html = await shown('html')
  expect(html.trimEnd().split('\n')).toHaveLength(1)
  const [, src, alt] = /^<img src="([^"]*)" alt="([^"]*)">\n$/.exec(html)!
  expect(unescaped(src!)).toBe(URL)
  expect(alt).not.toMatch(/[<>'"]/)
  expect(unescaped(alt!)).toBe(NAME.replace('\n', '\\u000a'))
})

it('is Markdown in which no name is markup', async () => {
  const text = await shown('markdown')
  expect(text.trimEnd().split('\n')).toHaveLength(1)
  const [, alt, url] = /^!\[(.*)\]\(<([^<>\\]*)>\)\n$/.exec(text)!
  // Each sign that could mean something has a backslash of its own, and no other has one.
  expect(alt!.replace(/\\u000a/g, '').replace(/\\[!-,/:-@[-`{-~]/g, '')).toMatch(/^[\w .-]*$/)
  expect(url).toBe(`https://cdn.example.com/i/1?a=1&amp;lt;b=(2)%3C"'%3E%5C`)
})

it('is an address a line, and leaves out those that are not known', async () => {
  expect(await shown('url', [picture(), picture({ url: null }), picture({ url: 'https://x/2' })])).toBe(
    `${URL}\nhttps://x/2\n`,
  )
})

it('is a table that no name can forge a line of', async () => {
  const text = await shown('table', [picture(), picture({ url: null, state: 'linked' })])
  expect(text.split('\n')).toHaveLength(4)
  expect(text).toMatch(/linked +1\.5 KB +not known\n$/)
})

function unescaped(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return text.replace(/&(#?\w+);/g, (_, name) => entities[name]!)
}

function splitCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && !quoted && !plain && rows.at(-1)!.length === 0) break
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!)
    if (end === '\r\n') rows.push([])
  }
  return rows.filter(row => row.length > 0)
}

it('shows ids when asked for, and fits a terminal', async () => {
  const table = async (columns: number, long: boolean) =>
    [
      ...(await listing([picture()], 'table', {
        oneMirror: true,
        long,
        out: { isTTY: true, columns } as NodeJS.WriteStream,
      })),
    ].join('')
  expect(await table(300, true)).toContain(' id-1 ')
  expect(await table(300, false)).not.toContain('id-1')
  expect((await table(80, true)).split('\n')).toEqual([
    expect.stringContaining('1.5 KB'),
    '  id-1',
    expect.stringMatching(/^ {2}https/),
    '',
  ])
})
