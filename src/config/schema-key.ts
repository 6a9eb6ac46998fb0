import { z } from 'zod'
import type { KeyPath } from './config-error.ts'

/** What a section, list or value is, without what its key adds: a default, or that it may be left out. */
export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional ? bare(schema.unwrap()) : schema
}

/** The keys of a section with the schema of each; null for what is none. */
export function keysOf(schema: z.core.$ZodType): [string, z.ZodType][] | null {
  const section = bare(schema)
  return section instanceof z.ZodObject ? Object.entries(section.shape) : null
}

/** The schema of the key at `path`; null where there is none of that name. */
export function schemaAt(root: z.ZodType, path: KeyPath): z.ZodType | null {
  let schema: z.ZodType = root
  for (const step of path) {
    const section = bare(schema)
    const next = section instanceof z.ZodArray ? section.element : new Map(keysOf(schema)).get(String(step))
    if (!(next instanceof z.ZodType)) return null
    schema = next
  }
  return schema
}
