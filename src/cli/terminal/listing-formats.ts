import type { MirroredPicture } from '../../daemon/report/mirrored-pictures.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { printable, sizeInWords } from '../words/wording.ts'
import { type Column, type TableOptions, tableLines } from './table.ts'

export const FORMATS = ['table', 'json', 'csv', 'markdown', 'html', 'url'] as const

export type Format = (typeof FORMATS)[number]

/** Formats that show nothing of a picture without a delivery address. */
export function needsAddress(format: Format): boolean {
  return format === 'markdown' || format === 'html' || format === 'url'
}

export interface ListingOptions extends TableOptions {
  /** Whether the config has one mirror only. Then paths in a table begin at its folder. */
  oneMirror: boolean
  /** Whether a terminal shows them. Then control characters are escaped in every format. */
  terminal: boolean
}

/** The text of a listing in pieces, one for each picture. markdown and html show the picture, url is one address a line. */
export function listing(
  pictures: Iterable<MirroredPicture>,
  format: Format,
  options: ListingOptions,
): Iterable<string> {
  const shown = options.terminal ? printable : (text: string) => text
  switch (format) {
    case 'table':
      return tableLines(COLUMNS, rowsOf(pictures, options.oneMirror), options)
    case 'json':
      return jsonArray(pictures, shown)
    case 'csv':
      return csvLines(pictures, shown)
    case 'markdown':
      return each(pictures, ({ name }, url) => `![${inMarkdown(name)}](<${addressInMarkdown(url)}>)\n`)
    case 'html':
      return each(pictures, ({ name }, url) => `<img src="${inHtml(url)}" alt="${inHtml(name)}">\n`)
    case 'url':
      return each(pictures, (_, url) => `${printable(url)}\n`)
  }
}

type Shown = (text: string) => string

const COLUMNS: readonly Column[] = [
  { title: 'PATH', least: 20, cut: 'middle' },
  { title: 'STATE', least: 6, cut: 'end' },
  { title: 'SIZE', least: 6, cut: 'end' },
  { title: 'ID', least: 8, cut: 'end', spare: true },
  { title: 'ADDRESS', least: 20, cut: 'middle', spare: true },
]
/** The column of the state in the table. */
export const STATE_COLUMN = 1

function* rowsOf(pictures: Iterable<MirroredPicture>, oneMirror: boolean): Generator<string[]> {
  for (const { mirror, path, state, image, url } of pictures)
    yield [
      oneMirror ? path : fullPath(mirror, path),
      state,
      sizeInWords(image.size),
      image.remote_id,
      url ?? 'not known',
    ].map(printable)
}

function inJson({ mirror, path, state, older, album, image, url }: MirroredPicture): object {
  return {
    path: fullPath(mirror, path),
    mirror,
    state,
    older,
    album,
    image_id: image.remote_id,
    url,
    size: image.size,
    sha256: image.hash.toString('hex'),
    proof: image.proof,
    recorded_at: new Date(image.recorded_at).toISOString(),
  }
}

/** `shown`: escapes a text for the terminal. JSON allows this for characters that it does not escape itself, such as \u009b. */
function* jsonArray(pictures: Iterable<MirroredPicture>, shown: Shown): Generator<string> {
  let before = '['
  for (const picture of pictures) {
    yield `${before}\n${shown(JSON.stringify(inJson(picture)))}`
    before = ','
  }
  yield before === '[' ? '[]\n' : '\n]\n'
}

/** A picture as a JSON object. */
export function pictureInJson(picture: MirroredPicture, terminal: boolean): string {
  const json = JSON.stringify(inJson(picture))
  return `${terminal ? printable(json) : json}\n`
}

function* csvLines(pictures: Iterable<MirroredPicture>, shown: Shown): Generator<string> {
  yield csvLine(['path', 'state', 'album', 'image_id', 'url', 'size', 'sha256'])
  for (const { mirror, path, state, album, image, url } of pictures) {
    const hash = image.hash.toString('hex')
    const cells = [fullPath(mirror, path), state, album, image.remote_id, url ?? '', `${image.size}`, hash]
    yield csvLine(cells.map(shown))
  }
}

/** A field of CSV (RFC 4180). */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map(cell => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
  return `${quoted.join(',')}\r\n`
}

function* each(
  pictures: Iterable<MirroredPicture>,
  show: (picture: MirroredPicture, url: string) => string,
): Generator<string> {
  for (const picture of pictures) if (picture.url !== null) yield show(picture, picture.url)
}

/** Escapes a text for markdown, on one line. */
function inMarkdown(text: string): string {
  return printable(text.replace(/[!-/:-@[-`{-~]/g, '\\$&'))
}

/** Escapes the characters that would end an address in angle brackets. */
function addressInMarkdown(url: string): string {
  return printable(url)
    .replaceAll('<', '%3C')
    .replaceAll('>', '%3E')
    .replaceAll('\\', '%5C')
    .replace(/&(?=#?\w+;)/g, '&amp;')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function inHtml(text: string): string {
  return printable(text).replace(/[&<>"']/g, char => ENTITIES[char]!)
}
