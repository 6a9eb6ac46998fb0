import type { z } from 'zod'
import { type KeyPath, keyText, visible } from './config-error.ts'
import { likelyKey } from './likely-key.ts'
import { keysOf, schemaAt } from './schema-key.ts'

/** Something wrong with what a config says, before anyone knows on which line. */
export interface Mistake {
  path: KeyPath
  message: string
}

/** What the schema minds, in sentences: what is there, and what would be right. */
export function mistakesOf(issue: z.core.$ZodIssue, root: z.ZodType, config: unknown): Mistake[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => ({ path: [...issue.path, key], message: unknownKey(key, issue.path, root) }))
  const secret = schemaAt(root, issue.path)?.meta()?.secret === true
  const found = valueAt(config, issue.path)
  // A config that is one word may be the key's file, named in its place.
  const silent = found !== undefined && (secret || issue.path.length === 0)
  return [{ path: issue.path, message: silent ? issue.message : `${stateOf(found)}, ${issue.message}` }]
}

/** The value at `path`; undefined where there is none. */
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
