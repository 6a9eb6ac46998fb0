import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Fault, fuzz } from './fuzz.ts'
import { TARGETS } from './targets/all.ts'

/*
 * `npm run fuzz [-- --minutes N] [--seed N] [TARGET…]`: reads what comes from outside, changed at random. A new input is made
 * of those that led to code that no input before had led to. An input that is read wrongly is made shorter, printed, and
 * kept, so that kept.test.ts reads it again from then on. Ends with 1 when there is one.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
})
const say = (line: string) => void process.stdout.write(`${line}\n`)

function keep({ target, input }: Fault): string {
  const folder = join(import.meta.dirname, 'kept', target)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, hash('sha256', input).slice(0, 12))
  writeFileSync(file, input)
  return file
}

const seed = Number(values.seed)
const minutes = Number(values.minutes)
const targets = positionals.length > 0 ? positionals : Object.keys(TARGETS)
const unknown = targets.filter(name => !(name in TARGETS))
if (unknown.length > 0) {
  say(`no target ${unknown.join(', ')}; there are ${Object.keys(TARGETS).join(', ')}`)
  process.exit(2)
}
say(`seed ${seed}, ${minutes} min`)
await fuzz({
  targets,
  minutes,
  seed,
  say,
  found(fault) {
    process.exitCode = 1
    const shown = JSON.stringify(fault.input.toString('latin1')).slice(0, 2000)
    say(`\n${fault.target}: ${fault.fault}\n${fault.input.length} bytes, kept in ${keep(fault)}:\n${shown}\n`)
  },
})
