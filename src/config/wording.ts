import { z } from 'zod'
import { type KeyPath, keyText, likelyKey, visible } from './config-error.ts'

export interface Mistake {
  path: KeyPath
  message: string
}

/** What a person reads for a schema's issue: what is written there, and what would be right. */
export function mistakesOf(issue: z.core.$ZodIssue, root: z.ZodType, config: unknown): Mistake[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => ({ path: [...issue.path, key], message: unknownKey(key, issue.path, root) }))
  const secret = schemaAt(root, issue.path)?.meta()?.secret === true
  const found = valueAt(config, issue.path)
  // When the whole config is one word, it may be the API key, from a file that was passed by mistake. So it is not shown.
  const silent = found !== undefined && (secret || issue.path.length === 0)
  return [{ path: issue.path, message: silent ? issue.message : `${stateOf(found)}, ${issue.message}` }]
}

export function valueAt(config: unknown, path: KeyPath): unknown {
  let value = config
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

function unknownKey(key: string, path: KeyPath, root: z.ZodType): string {
  const section = schemaAt(root, path)
  const known = (section && keysOf(section))?.map(([name]) => name) ?? []
  const likely = likelyKey(key, known)
  if (likely) return `unknown key; did you mean ${likely}?`
  return `unknown key; ${keyText(path) ?? 'a config'} has ${known.join(', ')}`
}

function stateOf(value: unknown): string {
  if (value === undefined) return 'is missing'
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'is empty'
  if (Array.isArray(value)) return 'is a list'
  if (typeof value === 'object') return 'is a mapping'
  return typeof value === 'string' ? `is '${visible(value)}'` : `is ${value}`
}

export function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional ? bare(schema.unwrap()) : schema
}

export function keysOf(schema: z.core.$ZodType): [string, z.ZodType][] | null {
  const section = bare(schema)
  return section instanceof z.ZodObject ? Object.entries(section.shape) : null
}

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
