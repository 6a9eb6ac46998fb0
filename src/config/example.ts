import { stringify } from 'yaml'
import { z } from 'zod'
import { configSchema } from './schema.ts'
import { bare, keysOf } from './schema-key.ts'
import { valueAt } from './wording.ts'

const HEADER =
  "albumd's configuration. A key behind a # without a space is left out, and stands there with its default, or with " +
  'an example where it has none; take the # away to set it. Durations are written as 90s, 10m or 1h30m. Unknown keys ' +
  'are errors.'

/** The widest line. */
const COLUMNS = 100

/** A config with every key, commented for a person; keys that may be left out are commented out. */
export function configExample(): string {
  return configText({}, './config.schema.json')
}

/** The same with these keys set, as in the file. `schemaFile`: see `editorLine`. */
export function configText(given: object, schemaFile: string): string {
  const lines = [editorLine(schemaFile), ...comment(HEADER, ''), ...sectionLines(configSchema, '', given)]
  return `${lines.join('\n')}\n`
}

/** What tells an editor that knows YAML where the JSON Schema is: an absolute path, or one from the config's folder. */
export function editorLine(schemaFile: string): string {
  return `# yaml-language-server: $schema=${schemaFile}`
}

/** `given`: the values of its keys that are set. `brief`: those alone, and no comments. */
function sectionLines(section: z.core.$ZodType, indent: string, given: unknown, brief = false): string[] {
  return (keysOf(section) ?? []).flatMap(([key, field]) => {
    const own = valueAt(given, [key])
    if (brief) return own === undefined ? [] : keyLines(key, field, indent, own)
    return [
      ...(indent === '' ? [''] : []),
      ...comment(field.description ?? '', indent),
      ...keyLines(key, field, indent, own),
    ]
  })
}

function keyLines(key: string, field: z.ZodType, indent: string, given: unknown): string[] {
  const kind = bare(field)
  const below = `${indent}  `
  if (kind instanceof z.ZodObject) return [`${indent}${key}:`, ...sectionLines(kind, below, given)]
  if (kind instanceof z.ZodArray && kind.element instanceof z.ZodObject) {
    const { element } = kind
    const items = Array.isArray(given) ? given : [undefined]
    // What a key is for is said once.
    const linesOf = (item: unknown, at: number) => sectionLines(element, `${below}  `, item, at > 0)
    return [`${indent}${key}:`, ...items.flatMap((item, at) => itemLines(linesOf(item, at), below))]
  }
  const value = stringify(given ?? shownValue(field), {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
    blockQuote: false,
  })
  return [`${indent}${given !== undefined || kind === field ? '' : '#'}${key}: ${value.trimEnd()}`]
}

/** A list's entry: the dash stands before the first of its keys. */
function itemLines(lines: string[], indent: string): string[] {
  const first = lines.findIndex(line => !line.trimStart().startsWith('#'))
  return lines.map((line, index) => {
    if (index > first) return line
    return `${indent}${index === first ? '- ' : ''}${line.trimStart()}`
  })
}

function shownValue(field: z.ZodType): unknown {
  return field.meta()?.example ?? (field instanceof z.ZodPrefault ? field.def.defaultValue : undefined)
}

function comment(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = `${indent}#`
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > COLUMNS) {
      lines.push(line)
      line = `${indent}#`
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
