import { stringify } from 'yaml'
import { z } from 'zod'
import { configSchema } from './schema.ts'
import { bare, keysOf } from './schema-key.ts'

const HEADER =
  "albumd's configuration. A key behind a # without a space is left out, and stands there with its default, or with " +
  'an example where it has none; take the # away to set it. Durations are written as 90s, 10m or 1h30m. Unknown keys ' +
  'are errors.'

/** The widest line. */
const COLUMNS = 100

/** A config with every key, commented for a person; keys that may be left out are commented out. */
export function configExample(): string {
  return `${[...comment(HEADER, ''), ...sectionLines(configSchema, '')].join('\n')}\n`
}

function sectionLines(section: z.core.$ZodType, indent: string): string[] {
  return (keysOf(section) ?? []).flatMap(([key, field]) => [
    ...(indent === '' ? [''] : []),
    ...comment(field.description ?? '', indent),
    ...keyLines(key, field, indent),
  ])
}

function keyLines(key: string, field: z.ZodType, indent: string): string[] {
  const kind = bare(field)
  const below = `${indent}  `
  if (kind instanceof z.ZodObject) return [`${indent}${key}:`, ...sectionLines(kind, below)]
  if (kind instanceof z.ZodArray && kind.element instanceof z.ZodObject)
    return [`${indent}${key}:`, ...itemLines(sectionLines(kind.element, `${below}  `), below)]
  const value = stringify(shownValue(field), {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
  })
  return [`${indent}${kind === field ? '' : '#'}${key}: ${value.trimEnd()}`]
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
