import { stringify } from 'yaml'
import { z } from 'zod'
import { configSchema } from './schema.ts'
import { bare, keysOf, valueAt } from './wording.ts'

const HEADER =
  "albumd's configuration. A key behind a # without a space is left out, and stands there with its default, or with " +
  'an example where it has none; take the # away to set it. Durations are written as 90s, 10m or 1h30m. Unknown keys ' +
  'are errors.'

const COLUMNS = 100

/** A config with every key and a comment on each. Keys that may be left out are commented out. */
export function configExample(): string {
  return configText({}, './config.schema.json')
}

/** The example with the values of `given`. `schemaFile`: see `editorLine`. */
export function configText(given: object, schemaFile: string): string {
  const lines = [editorLine(schemaFile), ...comment(HEADER, ''), ...sectionLines(configSchema, '', given)]
  return `${lines.join('\n')}\n`
}

/** The line that tells an editor where the JSON Schema is: an absolute path, or a path from the config's folder. */
export function editorLine(schemaFile: string): string {
  return `# yaml-language-server: $schema=${schemaFile}`
}

/** The lines of a section. `given`: the values of keys that are set. `brief`: only these keys, without comments. */
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
    // The entries of a list share their keys, so only the first entry gets comments.
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

/** The lines of a list's entry. The dash is written before the first key. */
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
  const most = COLUMNS - indent.length - '# '.length
  const lines = text.match(new RegExp(`\\S.{0,${most - 1}}(?= |$)`, 'g')) ?? []
  return lines.map(line => `${indent}# ${line}`)
}

/** The schema for editors (JSON Schema, draft 2020-12): keys, kinds of values, defaults and descriptions. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input', override: inEditorsWords })
  return `${JSON.stringify({ title: "albumd's configuration", ...schema }, null, 2)}\n`
}

function inEditorsWords({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes
  jsonSchema: z.core.JSONSchema.BaseSchema
}): void {
  const { example, type } = jsonSchema
  for (const key of ['example', 'secret']) delete jsonSchema[key]
  if (example !== undefined) jsonSchema.examples = [example]
  // A section whose keys are all commented out is empty in YAML, and means its defaults.
  if (zodSchema instanceof z.ZodPrefault && type === 'object')
    Object.assign(jsonSchema, { type: ['object', 'null'] })
}
