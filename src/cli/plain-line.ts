import type { Argv } from 'yargs'
import type { Command } from './commands.ts'
import { type CommandCode, type LogLevelArgs, logLevelOption } from './options.ts'

/** What a command declares of an option or an operand, as far as a plain command line needs it. */
interface Declared {
  type?: string
  alias?: string
  array?: boolean
  choices?: readonly string[]
  default?: unknown
}

type ByName = Record<string, Declared>

/**
 * The arguments of a plain command line: a command, its operands, its switches, and options with a value, each given once
 * and as declared. Null: the line is not plain, and yargs reads it. yargs has the words for help, completion and every
 * mistake, but takes 30 ms to load and to read a line, which is longer than a short command works.
 */
export function plainArguments(
  { command }: Pick<Command, 'command'>,
  { builder }: Pick<CommandCode, 'builder'>,
  words: readonly string[],
): Record<string, unknown> | null {
  const declared = declaredBy(builder)
  if (!declared) return null
  const { options, operands } = declared
  const values = { ...emptyLists(operands), ...defaultsOf(options) }
  const places = command.split(' ').slice(1)
  const given = new Set<string>()
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const isOption = word.startsWith('-')
    const name = isOption ? optionOf(word, options) : places.shift()?.slice(1, -1)
    if (name === undefined || given.has(name)) return null
    given.add(name)
    // Only yargs reads operands of which there may be several.
    if (name.endsWith('..')) return null
    const { type, ...more } = (isOption ? options : operands)[name] ?? {}
    const isSwitch = type === 'boolean'
    const value = isOption && !isSwitch ? left.shift() : word
    if (!isSwitch && !isPlain(value, more)) return null
    values[name] = isSwitch || value
  }
  return places.some(place => place.startsWith('<')) ? null : values
}

function defaultsOf(options: ByName): Record<string, unknown> {
  const values = Object.entries(options).map(([name, { default: value }]) => [name, value] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** For yargs, an operand that takes several words and gets none is an empty list. */
function emptyLists(operands: ByName): Record<string, unknown> {
  const lists = Object.entries(operands).filter(([, { array }]) => array)
  return Object.fromEntries(lists.map(([name]) => [name, []]))
}

/** The option that a word of the command line names: by `--name`, or by the letter of its alias. */
function optionOf(word: string, options: ByName): string | undefined {
  return Object.keys(options).find(name => word === `--${name}` || word === `-${options[name]!.alias}`)
}

function isPlain(value: string | undefined, { array, choices }: Declared): boolean {
  return !!value && !value.startsWith('-') && !array && (choices?.includes(value) ?? true)
}

/** The options and operands that a command declares. Null: the command has subcommands. */
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
