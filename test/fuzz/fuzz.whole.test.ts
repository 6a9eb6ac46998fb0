import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'
import { TARGETS } from './targets/all.ts'

const MINUTES = 5

test(`whatever comes from outside is read well, as far as ${MINUTES} minutes show`, async () => {
  const said: string[] = []
  const faults: object[] = []
  const seed = Date.now() % 1_000_000_000
  await fuzz({
    targets: Object.keys(TARGETS),
    minutes: MINUTES,
    seed,
    say: line => said.push(line),
    found: ({ input, ...fault }) => faults.push({ ...fault, base64: input.toString('base64') }),
  })
  expect(faults, `seed ${seed}\n${said.join('\n')}\n${JSON.stringify(faults)}`).toEqual([])
}, 600_000)
