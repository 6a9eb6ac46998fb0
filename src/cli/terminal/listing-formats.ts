import type { MirroredPicture } from '../../daemon/report/mirrored-pictures.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { isoTime, printable, sizeInWords } from '../../words/text.ts'
import { paint } from './output.ts'

export const FORMATS = ['table', 'json', 'csv', 'markdown', 'html', 'url'] as const

export type Format = (typeof FORMATS)[number]

export const UNKNOWN =
  'delivery address is not known. "albumd adopt --verify" finds it out, after one upload of albumd\'s own'

export function needsAddress(format: Format): boolean {
  return format === 'markdown' || format === 'html' || format === 'url'
}

export interface ListingOptions {
  /** Whether the config has only one mirror. Then the table shows paths below the mirror's folder. */
  oneMirror: boolean
  /** Whether the table shows ids. */
  long?: boolean
  /** Where the listing is shown. For a terminal control characters are escaped in every format. Null: nowhere. */
  out: NodeJS.WriteStream | null
}

/** The text of a listing, a piece for each picture. markdown and html show the picture. url has one address a line. */
export async function listing(
  pictures: Iterable<MirroredPicture>,
  format: Format,
  { oneMirror, long = false, out }: ListingOptions,
): Promise<Iterable<string>> {
  const shown = shownOn(out)
  switch (format) {
    case 'table': {
      // Only a table needs the widths of characters, whose data take 6 ms to load.
      const { tableLines } = await import('./table.ts')
      const columns = COLUMNS.filter(title => long || title !== 'ID')
      // A terminal without a known width says 0.
      const width = (out?.isTTY && out.columns) || undefined
      return tableLines(columns, rowsOf(pictures, oneMirror, long), out ? inTable : undefined, {
        width,
        tail: TAIL,
      })
    }
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

export async function onePicture(
  picture: MirroredPicture,
  format: Format,
  out: NodeJS.WriteStream | null,
): Promise<string> {
  if (format === 'json') return `${shownOn(out)(JSON.stringify(inJson(picture)))}\n`
  return [...(await listing([picture], format, { oneMirror: true, out }))].join('')
}

type Shown = (text: string) => string

function shownOn(out: NodeJS.WriteStream | null): Shown {
  return out?.isTTY ? printable : text => text
}

const COLUMNS = ['PATH', 'STATE', 'SIZE', 'ID', 'ADDRESS']
const STATE = COLUMNS.indexOf('STATE')
/** The first of the columns that take lines of their own where a row does not fit. */
const TAIL = COLUMNS.indexOf('ID')

function inTable(shown: string, at: number, row: readonly string[] | null): string {
  if (row === null) return paint('bold', shown)
  return at === STATE && row[at] !== 'synced' ? paint('yellow', shown) : shown
}

function* rowsOf(
  pictures: Iterable<MirroredPicture>,
  oneMirror: boolean,
  long: boolean,
): Generator<string[]> {
  for (const { mirror, path, state, flat, image, url } of pictures)
    yield [
      oneMirror ? path : fullPath(mirror, path),
      flat && state === 'synced' ? 'flat' : state,
      sizeInWords(image.size),
      ...(long ? [image.remote_id] : []),
      url ?? 'not known',
    ].map(printable)
}

function inJson({ mirror, path, state, older, flat, album, image, sha256, url }: MirroredPicture): object {
  return {
    path: fullPath(mirror, path),
    mirror,
    state,
    older,
    flat,
    album,
    image_id: image.remote_id,
    cdn_url: url,
    size: image.size,
    sha256,
    proof: image.proof,
    recorded_at: isoTime(image.recorded_at),
  }
}

/** `shown`: escapes control characters that JSON.stringify leaves, such as \u009b. The result is still JSON. */
function* jsonArray(pictures: Iterable<MirroredPicture>, shown: Shown): Generator<string> {
  let before = '['
  for (const picture of pictures) {
    yield `${before}\n${shown(JSON.stringify(inJson(picture)))}`
    before = ','
  }
  yield before === '[' ? '[]\n' : '\n]\n'
}

function* csvLines(pictures: Iterable<MirroredPicture>, shown: Shown): Generator<string> {
  yield csvLine(['path', 'state', 'album', 'image_id', 'cdn_url', 'size', 'sha256'])
  for (const { mirror, path, state, album, image, sha256, url } of pictures) {
    const where = [fullPath(mirror, path), state, album, image.remote_id, url ?? '']
    const cells = [...where, `${image.size}`, sha256 ?? '']
    yield csvLine(cells.map(shown))
  }
}

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

/** Dots and hyphens, which file names have, mean nothing between brackets. */
function inMarkdown(text: string): string {
  return printable(text.replace(/[!-,/:-@[-`{-~]/g, '\\$&'))
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
