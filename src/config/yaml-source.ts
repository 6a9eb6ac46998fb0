import type { ErrorCode, ParsedNode, YAMLError, YAMLMap } from 'yaml'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { type KeyPath, visible } from './config-error.ts'

export interface YamlSource {
  /** Null when the text is empty or its faults leave the value in doubt. A key with nothing after it is undefined. */
  value: unknown
  faults: YamlFault[]
  /** The position of the key at `path`, or of the section that should hold the key. */
  locate(path: KeyPath): Position
}

export interface Position {
  line: number
  column: number
}

export interface YamlFault extends Position {
  message: string
}

/** Reads YAML 1.2 without tags, even when the text names another version. Never throws. */
export function readYaml(text: string): YamlSource {
  const { stackTraceLimit } = Error
  try {
    // The parser makes an error for each broken line. With stacks, these take a second for a long text.
    Error.stackTraceLimit = 0
    return readDocument(text)
  } catch (error) {
    // The parser calls itself for each level. A text that is made for it fills the stack.
    if (!(error instanceof RangeError)) throw error
    const start = { line: 1, column: 1 }
    return { value: null, faults: [{ ...start, message: TOO_DEEP }], locate: () => start }
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function readDocument(text: string): YamlSource {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    schema: 'core',
    stringKeys: true,
    resolveKnownTags: false,
    // The parser's check compares each key with all before it, which takes seconds for thousands of keys.
    uniqueKeys: false,
  })
  const positionOf = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset)
    return { line, column: col }
  }
  const errors = [...document.errors, ...document.warnings]
  const aliases = looseAliases(document)
  const again = repeatedKeys(document)
  const faults = [
    ...errors.map(error => ({ ...positionOf(error.pos[0]), message: wordingOf(error) })),
    ...aliases.map(offset => ({ ...positionOf(offset), message: LOOSE_ALIAS })),
    ...again.map(({ key, first, second }) => ({
      ...positionOf(second),
      message: `the key ${visible(key)} a second time; the first is in line ${positionOf(first).line}`,
    })),
  ]
  const clear = aliases.length + errors.length + again.length === 0
  const pairsOf = keptPairs()
  return {
    value: clear ? toValue(document, faults) : null,
    faults: firstOfEachLine(faults),
    locate: path => positionOf(offsetOf(document, path, pairsOf)),
  }
}

const LOOSE_ALIAS = 'an alias (*) without an anchor (&); a pattern must be in quotes'

const TOO_DEEP = 'lists or mappings nested too deeply'

const WORDINGS: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: LOOSE_ALIAS,
  BAD_SCALAR_START: 'a value that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a key within a value: its line is indented too far, or the value needs quotes',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  MULTIPLE_DOCS: 'a second YAML document begins here; a config is one document',
  TAB_AS_INDENT: 'a tab; YAML is indented with spaces',
  TAG_RESOLVE_FAILED: 'a YAML tag (!); a pattern must be in quotes',
}

function wordingOf({ code, message }: YAMLError): string {
  // The parser repeats a piece of the file after a colon, and this piece may be a secret.
  return WORDINGS[code] ?? `not valid YAML: ${visible(message.split(': ', 1)[0]!)}`
}

/** The most faults that are told. A text in which every line is broken has tens of thousands. */
const MOST_FAULTS = 100

/** The first error of each line, because one mistake may cause several errors. */
function firstOfEachLine(faults: readonly YamlFault[]): YamlFault[] {
  const inOrder = faults.toSorted((one, other) => one.line - other.line || one.column - other.column)
  return inOrder.filter(({ line }, at) => line !== inOrder[at - 1]?.line).slice(0, MOST_FAULTS)
}

/** The offsets of aliases without an anchor. An example: `*.tmp` without quotes is read as an alias. */
function looseAliases(document: Document.Parsed): number[] {
  const anchors = new Set<string>()
  const loose: number[] = []
  visit(document, {
    Node(_, node) {
      if (isAlias(node) && !anchors.has(node.source)) loose.push(node.range?.[0] ?? 0)
      if (node.anchor) anchors.add(node.anchor)
    },
  })
  return loose
}

interface RepeatedKey {
  key: string
  /** Offsets. */
  first: number
  second: number
}

function repeatedKeys(document: Document.Parsed): RepeatedKey[] {
  const again: RepeatedKey[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Map<unknown, number>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const [second] = key.range!
        const first = seen.get(key.value)
        if (first === undefined) seen.set(key.value, second)
        else again.push({ key: String(key.value), first, second })
      }
    },
  })
  return again
}

/** The value of a document. Where aliases of aliases would make it too large, adds a fault and returns null. */
function toValue(document: Document.Parsed, faults: YamlFault[]): unknown {
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.value) && pair.value.value === null) pair.value.value = undefined
    },
  })
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    faults.push({ line: 1, column: 1, message: 'aliases of aliases that make too many values' })
    return null
  }
}

type Pairs = Map<unknown, { key: ParsedNode; value: ParsedNode | null }>

/** Returns a function that returns a mapping's pairs by their keys, and keeps them: each key may have a mistake. */
function keptPairs(): (mapping: YAMLMap.Parsed) => Pairs {
  const kept = new WeakMap<YAMLMap.Parsed, Pairs>()
  return mapping => {
    const known = kept.get(mapping)
    if (known) return known
    const pairs: Pairs = new Map()
    for (const pair of mapping.items)
      if (isScalar(pair.key) && !pairs.has(pair.key.value)) pairs.set(pair.key.value, pair)
    kept.set(mapping, pairs)
    return pairs
  }
}

function offsetOf(document: Document.Parsed, path: KeyPath, pairsOf: ReturnType<typeof keptPairs>): number {
  let node: unknown = document.contents
  let offset = document.contents?.range[0] ?? 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = pairsOf(node as YAMLMap.Parsed).get(step)
      if (!pair) break
      offset = pair.key.range[0]
      node = pair.value
    } else if (isSeq<ParsedNode>(node) && node.items[Number(step)]) {
      const item: ParsedNode = node.items[Number(step)]!
      offset = item.range[0]
      node = item
    } else break
  }
  return offset
}
