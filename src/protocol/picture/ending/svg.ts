import { type ByteReader, CLOSED, cut, type Ending, WHOLE } from './bytes.ts'

/** Bytes that are searched at once for a sign of XML. No element has a longer name. */
const SIGN_LENGTH = 256

const DECLARATIONS = [
  { begins: '<!--', ends: '-->' },
  { begins: '<![CDATA[', ends: ']]>' },
  { begins: '<?', ends: '?>' },
]

/** An SVG ends with the closing tag of its root element. White space behind it belongs to it. */
export async function svgEnding(reader: ByteReader): Promise<Ending> {
  const end = await endOfRoot(reader)
  if (end === null) return cut('the closing tag of its root element is missing')
  return (await findSign(reader, end, /[^ \t\r\n]/)) === null ? CLOSED : WHOLE
}

/** The offset behind the root element. Only elements with the root's name are counted, because other elements can't close the root. */
async function endOfRoot(reader: ByteReader): Promise<number | null> {
  const root = await findRoot(reader)
  const name = root?.name.replace(/\W/g, '\\$&')
  const sign = new RegExp(`<(?:!--|!\\[CDATA\\[|\\?|/?${name}(?=[\\s/>]))`)
  let depth = 0
  for (let at = root?.at ?? null; at !== null; ) {
    const head = await textAt(reader, at)
    let past = await endOfDeclaration(reader, head, at)
    if (past === at) {
      const tag = await endOfTag(reader, at)
      if (tag === null) return null
      if (head[1] === '/') depth--
      else if (!tag.empty) depth++
      if (depth <= 0) return tag.at
      past = tag.at
    }
    at = past && (await findSign(reader, past, sign))
  }
  return null
}

/** The first tag. */
async function findRoot(reader: ByteReader): Promise<{ at: number; name: string } | null> {
  for (let at = await reader.find('<', 0); at !== null; ) {
    const head = await textAt(reader, at)
    const past = await endOfDeclaration(reader, head, at)
    const [, name] = /^<([^\s/>!?]+)/.exec(head) ?? []
    if (name !== undefined) return { at, name }
    at = past && (await reader.find('<', past === at ? at + 1 : past))
  }
  return null
}

/** The offset behind a comment, a processing instruction, a CDATA section or a DOCTYPE; `at` when there is none of them. Null: its end is missing. */
async function endOfDeclaration(reader: ByteReader, head: string, at: number): Promise<number | null> {
  const declaration = DECLARATIONS.find(({ begins }) => head.startsWith(begins))
  if (declaration) return after(reader, declaration.ends, at + declaration.begins.length)
  return head.startsWith('<!DOCTYPE') ? endOfDoctype(reader, at + 2) : at
}

/** The offset behind a DOCTYPE. A '>' in its brackets, in quotes or in a comment does not end it. */
async function endOfDoctype(reader: ByteReader, from: number): Promise<number | null> {
  const signs = /["'<[\]>]/
  let inside = false
  for (let at = await findSign(reader, from, signs); at !== null; ) {
    const head = await textAt(reader, at)
    const sign = head[0]!
    if (sign === '>' && !inside) return at + 1
    if (sign === '[') inside = true
    if (sign === ']') inside = false
    const quoted = sign === '"' || sign === "'"
    const past = quoted ? await after(reader, sign, at + 1) : await endOfDeclaration(reader, head, at)
    at = past && (await findSign(reader, past === at ? at + 1 : past, signs))
  }
  return null
}

/** The offset behind a tag. A '>' in quotes does not end the tag. */
async function endOfTag(reader: ByteReader, from: number): Promise<{ at: number; empty: boolean } | null> {
  for (let at = await findSign(reader, from, /["'>]/); at !== null; ) {
    const [before, sign] = await textAt(reader, at - 1)
    if (sign === '>') return { at: at + 1, empty: before === '/' }
    const past = await after(reader, sign!, at + 1)
    at = past && (await findSign(reader, past, /["'>]/))
  }
  return null
}

async function after(reader: ByteReader, text: string, from: number): Promise<number | null> {
  const at = await reader.find(text, from)
  return at === null ? null : at + text.length
}

/** The offset of the next match. A match has at most 256 bytes. */
async function findSign(reader: ByteReader, from: number, sign: RegExp): Promise<number | null> {
  for (let offset = from; ; ) {
    const bytes = await reader.bytes(offset, 1)
    const at = bytes?.toString('latin1').search(sign) ?? -1
    if (at >= 0) return offset + at
    if (bytes === null || offset + bytes.byteLength >= reader.size) return null
    // A match may begin in these bytes and end in the next ones.
    offset += Math.max(1, bytes.byteLength - SIGN_LENGTH)
  }
}

/** 256 bytes of text from `at` on, or fewer at the end of the source. */
async function textAt(reader: ByteReader, at: number): Promise<string> {
  const length = Math.min(SIGN_LENGTH, reader.size - at)
  const bytes = reader.held(at, length) ?? (await reader.bytes(at, length))
  return bytes?.toString('latin1', 0, length) ?? ''
}
