import { z } from 'zod'
import { configSchema } from '../../src/config/schema.ts'
import { bare, keysOf } from '../../src/config/wording.ts'

/** A key of the config, as pages and manuals tell it. */
export interface ConfigKey {
  /** Such as "host.base_url"; "mirrors[].folder" for the entries of a list. */
  name: string
  describe: string
  /** The words of which one must stand there; none where it takes others. */
  values: readonly string[]
  usual: string | null
  example: string | null
}

/** A section of the config with its keys. Keys that stand in no section are in the section "". */
export interface ConfigSection {
  name: string
  describe: string
  keys: ConfigKey[]
}

/** How values and keys are written. */
export const SPELLING =
  'Durations are written as `90s`, `10m` or `1h30m`, sizes as `20MB`, percentages as `25%`. Keys that are not here are ' +
  'errors that name the likely key. `[]` stands for the entries of a list.'

export function configSections(): ConfigSection[] {
  const loose: ConfigSection = { name: '', describe: 'Keys that stand alone.', keys: [] }
  const sections = (keysOf(configSchema) ?? []).flatMap(([name, field]) => {
    const keys = keysBelow(name, field)
    if (keys !== null) return [{ name, describe: field.description ?? '', keys }]
    loose.keys.push(keyOf(name, field))
    return []
  })
  return [...sections, loose]
}

/** The keys of a section or of the entries of a list, with those of sections in them. Null: the key is a value. */
function keysBelow(name: string, field: z.ZodType): ConfigKey[] | null {
  const kind = bare(field)
  const list = kind instanceof z.ZodArray ? keysOf(kind.element) : null
  const keys = list ?? keysOf(field)
  return (
    keys?.flatMap(([key, below]) => {
      const full = `${name}${list ? '[]' : ''}.${key}`
      return keysBelow(full, below) ?? [keyOf(full, below)]
    }) ?? null
  )
}

function keyOf(name: string, field: z.ZodType): ConfigKey {
  const kind = bare(field)
  const usual = field instanceof z.ZodPrefault ? written(field.def.defaultValue) : null
  const { example } = field.meta() ?? {}
  return {
    name,
    describe: field.description ?? '',
    values: kind instanceof z.ZodEnum ? kind.options.map(String) : [],
    usual,
    example: example === undefined ? null : written(example),
  }
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(each => JSON.stringify(each)).join(', ')}]`
  return String(value)
}
