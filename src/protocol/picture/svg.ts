/**
 * The start tag of an SVG's root element, with only the attributes that state a size:
 * `<svg width="…" height="…" viewBox="…">`. 'cut': the text ends within the tag or before it. Null: the text is no XML, or
 * its root is another element. Comments, processing instructions and a DOCTYPE may come first, and the name may have a
 * namespace prefix. The time is linear in the length of the text. One regular expression for the whole text could take
 * far longer on crafted input.
 */
export function findSvgRoot(bytes: Uint8Array): Uint8Array | 'cut' | null {
  const text = textOf(bytes)
  const start = skipProlog(text)
  return typeof start === 'number' ? readRoot(text, start) : start
}

/** Text that is not UTF-16 is read as Latin-1, because only ASCII characters matter here. */
function textOf(bytes: Uint8Array): string {
  const [first, second, third] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0))
    return decode(bytes, 'utf-16le')
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c))
    return decode(bytes, 'utf-16be')
  const marked = first === 0xef && second === 0xbb && third === 0xbf
  return decode(marked ? bytes.subarray(3) : bytes, 'latin1')
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes)
}

const SPACE = /\s*/y

/** Where the root element begins. */
function skipProlog(text: string): number | 'cut' | null {
  for (let at = 0; ; ) {
    at += matchAt(SPACE, text, at)![0].length
    if (at >= text.length) return 'cut'
    if (!/[?!]/.test(text[at + 1] ?? '')) return text[at] === '<' ? at : null
    const end = endOfDeclaration(text, at)
    if (end === null || end === 'cut') return end
    at = end
  }
}

const DECLARATIONS = [
  { begins: '<?', end: (text: string, at: number) => after(text, '?>', at + 2) },
  { begins: '<!--', end: (text: string, at: number) => after(text, '-->', at + 4) },
  { begins: '<!DOCTYPE', end: endOfDoctype },
]

function endOfDeclaration(text: string, at: number): number | 'cut' | null {
  const declaration = DECLARATIONS.find(({ begins }) => text.startsWith(begins, at))
  if (declaration) return declaration.end(text, at)
  return text.length - at < '<!DOCTYPE'.length ? 'cut' : null
}

/** Quotes, comments and instructions may contain the other signs of a DOCTYPE. Each begin with its end. */
const CLOSING = new Map([
  ['"', '"'],
  ["'", "'"],
  ['<!--', '-->'],
  ['<?', '?>'],
])

/** A DOCTYPE ends at the first '>' that is not in quotes, in a comment, or in its own declarations: `[…]`. */
function endOfDoctype(text: string, from: number): number | 'cut' {
  const token = /["'[\]>]|<!--|<\?/g
  let inside = false
  token.lastIndex = from
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const close = CLOSING.get(match[0])
    if (close !== undefined) {
      const end = after(text, close, token.lastIndex)
      if (end === 'cut') return 'cut'
      token.lastIndex = end
    }
    if (match[0] === '[') inside = true
    if (match[0] === ']') inside = false
    if (match[0] === '>' && !inside) return token.lastIndex
  }
  return 'cut'
}

function after(text: string, end: string, from: number): number | 'cut' {
  const at = text.indexOf(end, from)
  return at < 0 ? 'cut' : at + end.length
}

const NAME = /<(?:[^\s:<>/"'=]+:)?svg(?=[\s/>])/y
const UNFINISHED_NAME = /<[^\s/>]*$/y
const ATTRIBUTE = /\s+([^\s=<>/"']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const TAG_END = /\s*\/?>/y

function readRoot(text: string, start: number): Uint8Array | 'cut' | null {
  const name = matchAt(NAME, text, start)
  if (name === null) return matchAt(UNFINISHED_NAME, text, start) ? 'cut' : null
  let at = start + name[0].length
  const attributes: string[] = []
  for (let match = matchAt(ATTRIBUTE, text, at); match !== null; match = matchAt(ATTRIBUTE, text, at)) {
    at += match[0].length
    attributes.push(...lengthAttribute(match[1]!, match[2] ?? match[3]!))
  }
  return matchAt(TAG_END, text, at) ? Buffer.from(`<svg ${attributes.join(' ')}>`) : 'cut'
}

/** A viewBox may have commas and any white space between its numbers; image-size understands only one blank. */
function lengthAttribute(name: string, value: string): string[] {
  if (name !== 'width' && name !== 'height' && name !== 'viewBox') return []
  const plain = value.trim().replace(/[\s,]+/g, ' ')
  return /^[\w.+ -]{1,100}$/.test(plain) ? [`${name}="${plain}"`] : []
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}
