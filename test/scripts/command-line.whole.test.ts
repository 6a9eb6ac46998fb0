import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHECKOUT } from '../docs/pages.ts'
import { execute } from '../e2e/stage/stage.ts'

describe.each([
  ['sim', 'test/sim/run.ts', '--seeds 0', '--seeds must be at least 1: 0'],
  ['power-cuts', 'test/sim/power/run.ts', '--at 3', '--at means nothing without --seed'],
  ['fuzz', 'test/fuzz/run.ts', '--minutes 0 names', '--minutes must be at least 1: 0'],
  ['test:ten', 'scripts/ten-times.ts', '--times x --busy 0', '--times must be a whole number: x'],
  ['bench', 'bench/run.ts', 'teapots', 'teapots: no part of the bench; there are start, .*'],
])('npm run %s', (name, script, line, words) => {
  it('is one of those that CONTRIBUTING.md lists', () => {
    expect(readFileSync(join(CHECKOUT, 'CONTRIBUTING.md'), 'utf8')).toContain(`\nnpm run ${name} `)
  })

  it('has a help', async () => {
    const { code, out } = await start(script, '--help')
    expect(out).toMatch(new RegExp(`^npm run ${name} \\[-- .*  --help .*\\n$`, 's'))
    expect(code).toBe(0)
  })

  it(`does not begin with ${line}, and says why in one line`, async () => {
    const { code, out, err } = await start(script, ...line.split(' '))
    expect(err).toMatch(new RegExp(`^${words} \\(npm run ${name} -- --help lists the options\\)\\n$`))
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })
})

function start(script: string, ...args: string[]) {
  return execute(process.execPath, [join(CHECKOUT, script), ...args], {})
}
