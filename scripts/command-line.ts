import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** A command for whoever changes albumd, as `npm run` starts it. */
export interface Command {
  name: string
  about: string
  /** What may be named beside the options. `word` stands for it in the help, `kind` in a refusal. */
  operands?: { word: string; kind: string; about: string; known: readonly Known[] }
  options: Readonly<Record<string, Option>>
}

interface Known {
  name: string
  about?: string
}

interface Option {
  does: string
  /** What stands for its value in the help. Without it, the option takes no value. */
  value?: string
  /** Its value is a whole number, and at least this. Without it, the value is a folder. */
  least?: number
  /** Its value where none is given. */
  usual?: string | number
  /** The only options that may be given beside it. */
  beside?: readonly string[]
  /** The option without which it means nothing. */
  needs?: string
}

type Values<Options> = {
  [Name in keyof Options]: Options[Name] extends { least: number }
    ? number | (Options[Name] extends { usual: number } ? never : null)
    : Options[Name] extends { value: string }
      ? string
      : boolean
}

interface CommandLine<Options> {
  values: Values<Options>
  operands: string[]
}

/** What the command line of this process says. Ends the process where it asks for help, and where it means nothing. */
export function commandLine<const Its extends Command>(command: Its): CommandLine<Its['options']> {
  try {
    const read = readCommandLine(command, process.argv.slice(2), process.env)
    if (read) return read
  } catch (error) {
    refuse(command, (error as Error).message)
  }
  process.stdout.write(`${helpOf(command)}\n`)
  process.exit(0)
}

/** Ends the process with one line. */
export function refuse({ name }: Command, why: string): never {
  process.stderr.write(`${why} (npm run ${name} -- --help lists the options)\n`)
  process.exit(2)
}

/** npm has options of these names too, and always tells `cache`. */
const OF_NPM: ReadonlySet<string> = new Set(['cache'])

/** Answers null where help is asked for. Throws, in one line, where the command line means nothing. */
export function readCommandLine<const Its extends Command>(
  command: Its,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): CommandLine<Its['options']> | null {
  const { name, operands } = command
  const options = Object.entries<Option>(command.options)
  const early = options.find(([option]) => !OF_NPM.has(option) && `npm_config_${option}` in env)?.[0]
  // npm takes an option before the `--` for its own, and leaves a value after a space as an operand.
  if (early) throw new Error(`npm took --${early}: a -- is missing before it: npm run ${name} -- --${early}`)
  const { values, positionals } = parsed(command, args)
  if (values.help) return null
  const given = options.filter(([option]) => option in values)
  for (const [option, { beside, needs }] of given) {
    if (needs && !(needs in values)) throw new Error(`--${option} means nothing without --${needs}`)
    const other = given.find(([other]) => beside && other !== option && !beside.includes(other))?.[0]
    if (other) throw new Error(`--${other} means nothing beside --${option}`)
  }
  const known = operands?.known.map(({ name }) => name) ?? []
  const unknown = positionals.filter(name => !known.includes(name))
  if (operands && unknown.length > 0)
    throw new Error(`${unknown.join(', ')}: no ${operands.kind}; there are ${known.join(', ')}`)
  const read = options.map(([name, option]) => [name, readValue(name, option, values[name])])
  return { values: Object.fromEntries(read) as Values<Its['options']>, operands: positionals }
}

/** Only what is given. */
function parsed(
  { operands, options }: Command,
  args: readonly string[],
): { values: Readonly<Record<string, unknown>>; positionals: string[] } {
  const kinds = Object.entries(options).map(([name, { value }]) => [
    name,
    { type: value ? 'string' : 'boolean' },
  ])
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: operands !== undefined,
      options: { ...Object.fromEntries(kinds), help: { type: 'boolean' } },
    })
  } catch (error) {
    // What follows the first sentence fits few programs.
    throw new Error((error as Error).message.split(/\.\s/)[0])
  }
}

function readValue(name: string, { value, least, usual }: Option, given: unknown) {
  if (!value) return given ?? false
  if (given === undefined) return usual ?? null
  const text = String(given)
  if (least === undefined) {
    if (text === '') throw new Error(`--${name} needs a folder`)
    // For programs that are run elsewhere.
    return resolve(text)
  }
  const number = text === '' ? Number.NaN : Number(text)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`--${name} must be a whole number: ${text}`)
  if (number < least) throw new Error(`--${name} must be at least ${least}: ${text}`)
  return number
}

export function helpOf({ name, about, operands, options }: Command): string {
  const rows = Object.entries({ ...options, help: { does: 'prints this' } as Option }).map(
    ([option, { value, does, usual }]) => ({
      name: value ? `--${option} ${value}` : `--${option}`,
      about: usual === undefined ? does : `${does} (${usual})`,
    }),
  )
  const named = operands ? `\n${operands.about}\n${table(operands.known)}\n\nOptions:` : ''
  return `npm run ${name} [-- ${operands ? `${operands.word}… ` : ''}OPTION…]\n\n${about}\n${named}\n${table(rows)}`
}

function table(rows: readonly Known[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length))
  return rows.map(({ name, about = '' }) => `  ${name.padEnd(width)}  ${about}`.trimEnd()).join('\n')
}
