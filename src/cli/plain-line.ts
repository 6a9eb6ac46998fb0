import { parseArgs } from 'node:util'
import type { Argv } from 'yargs'
import { orNull } from '../daemon/or-null.ts'
import type { Command } from './commands.ts'
import { type CommandCode, type LogLevelArgs, logLevelOption } from './options.ts'

interface Declared {
  type?: string
  alias?: string
  array?: boolean
  choices?: readonly string[]
  default?: unknown
}

type ByName = Record<string, Declared>

/** The arguments of a plain command line: a command, its operands, its switches, and options with a value, each given once
 * and as declared. Null: the line is not plain, and yargs reads it. yargs has the words for help, completion and every
 * mistake, but takes 30 ms to load and to read a line, which is longer than a short command works. */
export function plainArguments(
  { command }: Pick<Command, 'command'>,
  { builder }: Pick<CommandCode, 'builder'>,
  words: readonly string[],
): Record<string, unknown> | null {
  const declared = declaredBy(builder)
  const read = declared && orNull(() => readWords(words, declared.options))
  if (!read) return null
  const { options, operands } = declared
  const places = command.split(' ').slice(1)
  const named = read.positionals.map((word, at) => [places[at]?.slice(1, -1) ?? '', word] as const)
  const given = [...Object.entries(read.values), ...named]
  // Only yargs reads what may be given several times, and says what is missing.
  const isPlain = given.every(([name, value]) => fits(value, options[name] ?? operands[name]))
  if (!isPlain || places.slice(named.length).some(place => place.startsWith('<'))) return null
  const lists = Object.entries(operands).flatMap(([name, { array }]) => (array ? [[name, []]] : []))
  const usual = Object.entries(options).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  )
  return Object.fromEntries([...lists, ...usual, ...given])
}

/** Throws for a word that `parseArgs` does not understand, and for an option that is given twice. */
function readWords(words: readonly string[], options: ByName) {
  const kinds = Object.entries(options).map(([name, { type, alias: short }]) => {
    return [name, { type: type === 'boolean' ? 'boolean' : 'string', ...(short && { short }) }] as const
  })
  const read = parseArgs({
    args: [...words],
    options: Object.fromEntries(kinds),
    allowPositionals: true,
    tokens: true,
  })
  const named = read.tokens.flatMap(token => (token.kind === 'option' ? token.name : []))
  if (words.includes('--') || new Set(named).size < named.length) throw new Error('not plain')
  return read
}

function fits(value: unknown, declared: Declared | undefined): boolean {
  if (!declared || declared.array) return false
  if (declared.type === 'boolean') return value === true
  return !!value && (declared.choices?.includes(String(value)) ?? true)
}

function declaredBy(builder: CommandCode['builder']): { options: ByName; operands: ByName } | null {
  const options: ByName = { ...logLevelOption }
  const operands: ByName = {}
  let hasCommands = false
  const recorder = {
    options(more: ByName) {
      Object.assign(options, more)
      return recorder
    },
    positional(name: string, operand: Declared) {
      operands[name] = operand
      return recorder
    },
    command() {
      hasCommands = true
      return recorder
    },
    demandCommand: () => recorder,
    example: () => recorder,
    epilogue: () => recorder,
  }
  builder(recorder as unknown as Argv<LogLevelArgs>)
  return hasCommands ? null : { options, operands }
}
