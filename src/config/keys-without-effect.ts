import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { type KeyPath, keyText } from './config-error.ts'
import { type Config, configSchema } from './schema.ts'
import { keysOf } from './schema-key.ts'
import { valueAt } from './wording.ts'

/** The keys that a config sets to something else than their default, and that nothing obeys yet. */
export function keysWithoutEffect(config: Config): string[] {
  const keys = keysNotInEffect(configSchema, [])
  return keys
    .filter(({ path, field }) => !isDeepStrictEqual(valueAt(config, path), field.parse(undefined)))
    .map(({ path }) => keyText(path)!)
}

function keysNotInEffect(section: z.ZodType, path: KeyPath): { path: KeyPath; field: z.ZodType }[] {
  return (keysOf(section) ?? []).flatMap(([key, field]) => {
    const at = [...path, key]
    return field.meta()?.notInEffect ? [{ path: at, field }] : keysNotInEffect(field, at)
  })
}
