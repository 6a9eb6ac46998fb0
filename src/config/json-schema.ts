import { z } from 'zod'
import { configSchema } from './schema.ts'

/** The schema as editors read it (JSON Schema, draft 2020-12): keys, kinds of values, defaults, and what each is for. */
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
  const { example, secret, notInEffect, ...rest } = jsonSchema
  for (const key of ['example', 'secret', 'notInEffect']) delete jsonSchema[key]
  if (example !== undefined) jsonSchema.examples = [example]
  // A section with all its keys behind a # is empty, and stands for its defaults.
  if (zodSchema instanceof z.ZodPrefault && rest.type === 'object')
    Object.assign(jsonSchema, { type: ['object', 'null'] })
}
