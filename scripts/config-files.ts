/** Writes config.example.yaml and config.schema.json from the schema. */
import { writeFileSync } from 'node:fs'
import { configExample, configJsonSchema } from '../src/config/example.ts'

const write = (name: string, text: string) => writeFileSync(new URL(`../${name}`, import.meta.url), text)

write('config.example.yaml', configExample())
write('config.schema.json', configJsonSchema())
