import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultIn } from './fuzz.ts'
import { TARGETS } from './targets/all.ts'

const KEPT = join(import.meta.dirname, 'kept')

test('each kept input has a target', () => {
  expect(Object.keys(TARGETS)).toEqual(expect.arrayContaining(readdirSync(KEPT)))
})

// By one process for each target.
test.each(Object.entries(TARGETS))(
  'the good inputs that others are made of, and those that were read wrongly once, are read well: %s',
  async (name, target) => {
    const folder = join(KEPT, name)
    const kept = existsSync(folder) ? readdirSync(folder).map(file => readFileSync(join(folder, file))) : []
    expect(await faultIn(name, [...kept, ...target.seeds()])).toBe(null)
  },
)
