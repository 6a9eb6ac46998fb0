import { ByteReader, type ByteSource } from '../byte-reader.ts'
import { flawed, type Part, type Walk } from './part.ts'
import { walkRest } from './zeros.ts'

/** The search for an SVG's root element reads at most so many bytes of comments and declarations. */
const SEARCHED = 512 * 1024
/** So many characters are read to recognize a tag, a comment or a declaration. No element has a longer name. */
const SIGN_LENGTH = 256

const NAME = /^<(?:[^\s:<>/"'=]+:)?svg(?=[\s/>])/
/** What may come before the root element: declarations, comments, a DOCTYPE. */
const PROLOG = /^<(?:\?|!--|!DOCTYPE|!\[CDATA\[)/
const ATTRIBUTE = /\s+([^\s=<>/"']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/gy
const TAG_END = /^\s*\/?>$/
const SIZES = ['width', 'height', 'viewBox']

/** The start tag of an SVG's root element, with only the attributes that state a size:
 * `<svg width="…" height="…" viewBox="…">`. Null: the text is no XML, its root is another element, or it ends before the
 * tag does. Comments, processing instructions and a DOCTYPE may come first, and the name may have a namespace prefix.
 * `head`: the first bytes of the source. */
export async function findSvgRoot(source: ByteSource, head: Uint8Array): Promise<Uint8Array | null> {
  const limited: ByteSource = {
    size: Math.min(source.size, SEARCHED),
    read: (offset, length) => source.read(offset, length),
  }
  const plain = oneByteText(limited, head)
  const text = new Text(new ByteReader(plain, plain === limited ? { head } : { block: 32 * 1024 }))
  const root = await rootOf(text)
  return root && sizeOf(await text.read(root.from, root.to - root.from))
}

/** The tag as `findSvgRoot` returns it; null when the tag is not well-formed. SVG allows commas and any white space in a
 * viewBox, image-size single blanks. */
function sizeOf(tag: string): Uint8Array | null {
  const rest = tag.replace(NAME, '')
  if (!TAG_END.test(rest.replace(ATTRIBUTE, ''))) return null
  const lengths = [...rest.matchAll(ATTRIBUTE)]
    .map(([, name, one, other]) => ({ name: name!, value: (one ?? other!).trim().replace(/[\s,]+/g, ' ') }))
    .filter(({ name, value }) => SIZES.includes(name) && /^[\w.+ -]{1,100}$/.test(value))
  return Buffer.from(`<svg ${lengths.map(({ name, value }) => `${name}="${value}"`).join(' ')}>`)
}

/** An SVG is text, in which no zeros occur, and ends with the closing tag of its root element. White space may follow. */
export const walkSvg: Walk = async function* ({ source, size }) {
  const plain = oneByteText(source, await source.read(0, 2))
  const text = new Text(new ByteReader(plain))
  const bytesOf = (characters: number) => (plain === source ? characters : Math.min(size, 2 * characters))
  const root = await rootOf(text)
  const end = root && (await endOfRoot(text, root))
  const [from, to] = [bytesOf(root?.from ?? 0), end === null ? size : bytesOf(end)]
  yield { role: 'header', name: 'prolog', from: 0, to: from }
  const nul = text.nul !== null && (end === null || text.nul < end) ? bytesOf(text.nul) : null
  const code = nul === null ? end === null && 'cut' : 'unwritten'
  yield flawed({ role: 'image', name: 'root element', from, to }, code, 'root element', nul ?? to)
  if (end === null || nul !== null) return
  const behind = await text.find(/[^ \t\r\n]/g, end)
  const rest = behind ? bytesOf(behind.from) : size
  yield { role: 'end', name: 'closing tag', from: to, to: rest }
  yield* walkRest(new ByteReader(source), rest)
}

/** Where the root element's start tag stands. Null as in `findSvgRoot`. */
async function rootOf(text: Text): Promise<Found | null> {
  for (let end: number | null = 0; end !== null; ) {
    const from: number | undefined = (await text.find(NO_BLANK, end))?.from
    if (from === undefined) return null
    const head = await text.read(from)
    const isRoot = NAME.test(head)
    if (!isRoot && !PROLOG.test(head)) return null
    end = await endOf(text, from)
    if (isRoot && end !== null) return { from, to: end }
  }
  return null
}

/** White space, and UTF-8's byte order mark. */
const NO_BLANK = /[^\s\xef\xbb\xbf]/g

/** The offset behind the root element; null without closing tag. Only elements of its name are counted. */
async function endOfRoot(text: Text, root: Found): Promise<number | null> {
  const [start] = NAME.exec(await text.read(root.from))!
  const name = start.slice(1).replace(/\W/g, '\\$&')
  const sign = new RegExp(`<(?:!--|!\\[CDATA\\[|\\?|/?${name}(?=[\\s/>]))`, 'g')
  let depth = 0
  for (let { from, to } = root; ; ) {
    const head = await text.read(from, 2)
    if (head === '</') depth--
    else if (head !== '<!' && head !== '<?' && (await text.read(to - 2, 2)) !== '/>') depth++
    if (depth <= 0) return to
    const next = await text.find(sign, to)
    const end = next && (await endOf(text, next.from))
    if (next === null || end === null) return null
    from = next.from
    to = end
  }
}

/** What has an end of its own. In what `nests`, others may stand that hide it; in brackets, a DOCTYPE does not end either. */
const SPANS = [
  { begins: '<!--', ends: /-->/g },
  { begins: '<![CDATA[', ends: /\]\]>/g },
  { begins: '<?', ends: /\?>/g },
  { begins: '"', ends: /"/g },
  { begins: "'", ends: /'/g },
  { begins: '<!DOCTYPE', ends: /["'<[\]>]/g, nests: true },
  { begins: '<', ends: /["'>]/g, nests: true },
]

/** The offset behind the tag, comment or quotes that begin at `at`. Null: their end is missing. */
async function endOf(text: Text, at: number): Promise<number | null> {
  const head = await text.read(at)
  const { begins, ends, nests } = SPANS.find(span => head.startsWith(span.begins))!
  let inside = false
  for (let end: number | null = at + begins.length; end !== null; ) {
    const found: Found | null = await text.find(ends, end)
    if (found === null) return null
    const sign = await text.read(found.from, 1)
    if (!nests || (sign === '>' && !inside)) return found.to
    if (sign === '[' || sign === ']') inside = sign === '['
    end = /["'<]/.test(sign) ? await endOf(text, found.from) : found.to
  }
  return null
}

/** Where a sign begins, and the offset behind it. */
type Found = Pick<Part, 'from' | 'to'>

/** A text of one-byte characters. The current block is a string, so that many small steps cost one pass. */
class Text {
  readonly #reader: ByteReader
  #from = 0
  #text = ''
  /** The first zero that was read. */
  nul: number | null = null

  constructor(reader: ByteReader) {
    this.#reader = reader
  }

  /** The `length` characters from `at` on, or fewer at the end of the text. */
  async read(at: number, length = SIGN_LENGTH): Promise<string> {
    const most = Math.max(0, Math.min(length, this.#reader.size - at))
    if (at < this.#from || at + most > this.#from + this.#text.length) {
      this.#text = (await this.#reader.bytes(at, most))?.toString('latin1') ?? ''
      this.#from = at
      const nul = this.nul === null ? this.#text.indexOf('\0') : -1
      if (nul >= 0) this.nul = at + nul
    }
    return this.#text.slice(at - this.#from, at - this.#from + most)
  }

  /** The next match of `sign` (a global expression, at most 256 characters); null when there is none. */
  async find(sign: RegExp, from: number): Promise<Found | null> {
    for (let at = from; ; ) {
      // A match may begin in the characters in memory and end in the characters that are read next.
      const isMore = (await this.read(at)).length === SIGN_LENGTH
      sign.lastIndex = at - this.#from
      const found = sign.exec(this.#text)
      if (found) return { from: this.#from + found.index, to: this.#from + sign.lastIndex }
      if (!isMore) return null
      at = Math.max(at + 1, this.#from + this.#text.length - SIGN_LENGTH + 1)
    }
  }
}

/** A text of one byte a character: UTF-16 is narrowed, what is not Latin-1 becomes "?", since only XML's ASCII matters,
 * and a byte order mark a blank. `head`: the first two bytes. */
function oneByteText(source: ByteSource, head: Uint8Array): ByteSource {
  const [first, second] = head
  const little = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)
  const big = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)
  if (!little && !big) return source
  return {
    size: Math.floor(source.size / 2),
    async read(offset, length) {
      // The bytes are swapped in place, so they are copied first.
      const wide = Buffer.from(await source.read(2 * offset, 2 * length))
      const whole = wide.subarray(0, wide.length - (wide.length % 2))
      const text = (big ? whole.swap16() : whole).toString('utf16le')
      return Buffer.from(text.replaceAll('\u{FEFF}', ' ').replace(/[^\0-\xff]/g, '?'), 'latin1')
    },
  }
}
