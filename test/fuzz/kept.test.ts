import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultIn } from './fuzz.ts'
import { TARGETS } from './targets/all.ts'

const KEPT = join(import.meta.dirname, 'kept')

describe('inputs that were read wrongly once', () => {
  test.each(readdirSync(KEPT))('%s', async target => {
    const folder = join(KEPT, target)
    const inputs = readdirSync(folder).map(name => readFileSync(join(folder, name)))
    expect(await faultIn(target, inputs)).toBe(null)
  })

  test('and the good ones that others are made of are read well', async () => {
    for (const [name, target] of Object.entries(TARGETS))
      expect(await faultIn(name, target.seeds())).toBe(null)
  })
})
