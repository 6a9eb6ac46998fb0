import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'
import { TARGETS } from './targets/all.ts'

const MINUTES = 5
/** The same each time, so that a change is judged by what it changes; `npm run fuzz` takes another each time. */
const SEED = 20_261_130

test(`whatever comes from outside is read well, as far as ${MINUTES} minutes show`, async () => {
  const said: string[] = []
  const faults: object[] = []
  await fuzz({
    targets: Object.keys(TARGETS),
    minutes: MINUTES,
    seed: SEED,
    say: line => said.push(line),
    found: ({ input, ...fault }) => faults.push({ ...fault, base64: input.toString('base64') }),
  })
  expect(faults, `seed ${SEED}\n${said.join('\n')}\n${JSON.stringify(faults)}`).toEqual([])
}, 600_000)
