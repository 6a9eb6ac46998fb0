import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, commandLine } from '../../scripts/command-line.ts'
import { type Fault, fuzz } from './fuzz.ts'
import { TARGETS } from './targets/all.ts'

const FUZZ = {
  name: 'fuzz',
  about: `Reads what comes from outside, changed at random. A new input is made of those that led to code that no input before had led
to. An input that is read wrongly is made shorter, printed, and kept, so that kept.whole.test.ts reads it again from then on.
Ends with 1 when there is one. It takes as many minutes as are said, and some more where an input is made shorter.`,
  operands: {
    word: 'TARGET',
    kind: 'target',
    about: 'Targets; where none is named, all:',
    known: Object.keys(TARGETS).map(name => ({ name })),
  },
  options: {
    minutes: { value: 'N', least: 1, usual: 5, does: 'for so many whole minutes' },
    seed: { value: 'N', least: 0, does: 'the seed, which is printed (the time)' },
  },
} as const satisfies Command

const { values, operands } = commandLine(FUZZ)
const say = (line: string) => void process.stdout.write(`${line}\n`)

function keep({ target, input }: Fault): string {
  const folder = join(import.meta.dirname, 'kept', target)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, hash('sha256', input).slice(0, 12))
  writeFileSync(file, input)
  return file
}

const { minutes } = values
const seed = values.seed ?? Date.now() % 1_000_000_000
const targets = operands.length > 0 ? operands : Object.keys(TARGETS)
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
