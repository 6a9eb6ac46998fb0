import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MUTANTS } from './mutants/mutants.ts'
import { withNamed } from './mutants/named.ts'

it.each(MUTANTS.flatMap(mutant => ('instead' in mutant ? [mutant] : [])))(
  'what is replaced is there: $name',
  ({ instead }) => {
    for (const [file, names] of Object.entries(instead)) {
      const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')
      expect(withNamed(source, Object.keys(names), '0')).toContain('$by(')
    }
  },
)
