/** Writes config.example.yaml from the schema. */
import { writeFileSync } from 'node:fs'
import { configExample } from '../src/config/example.ts'

writeFileSync(new URL('../config.example.yaml', import.meta.url), configExample())
