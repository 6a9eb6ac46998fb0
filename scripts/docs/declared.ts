import type { Argv } from 'yargs'
import { COMMANDS } from '../../src/cli/commands.ts'
import {
  type CommandCode,
  configOption,
  jsonOption,
  type LogLevelArgs,
  quietOption,
  yargsModule,
} from '../../src/cli/options.ts'

/** What a command declares to yargs of an option or an operand. */
export interface Declared {
  type?: string
  alias?: string
  array?: boolean
  choices?: readonly string[]
  default?: unknown
  defaultDescription?: string
  describe?: string
}

/** A command, as pages and manuals tell it. */
export interface DeclaredCommand {
  /** Such as "sync", or "service install". */
  name: string
  /** Name and operands, as a person writes them. */
  usage: string
  describe: string
  exits: number[]
  operands: [name: string, Declared][]
  options: [name: string, Declared][]
  examples: [line: string, describe: string][]
  /** What else is to be said, without the exit codes. */
  notes: string[]
  commands: DeclaredCommand[]
}

/** A yargs module, as a command with commands of its own declares one. */
interface Module {
  command: string
  describe: string
  builder(options: Argv<LogLevelArgs>): unknown
}

/** Every command of `albumd`, as it declares itself to yargs. */
export async function declaredCommands(): Promise<DeclaredCommand[]> {
  return Promise.all(
    COMMANDS.map(async command => {
      const { builder, ...told } = yargsModule(command, await command.load())
      return declare({ ...told, builder } as Module, '')
    }),
  )
}

function declare({ command, describe, builder }: Module, before: string): DeclaredCommand {
  const told: DeclaredCommand = {
    name: `${before}${command.split(' ')[0]}`,
    usage: `albumd ${before}${command}`,
    describe,
    exits: [],
    operands: [],
    options: [],
    examples: [],
    notes: [],
    commands: [],
  }
  const recorder = {
    options(more: Record<string, Declared>) {
      told.options.push(...Object.entries(more))
      return recorder
    },
    positional(name: string, operand: Declared) {
      told.operands.push([name, operand])
      return recorder
    },
    command(module: Module) {
      told.commands.push(declare(module, `${told.name} `))
      return recorder
    },
    demandCommand: () => recorder,
    example(line: string, words: string) {
      told.examples.push([line.replace('$0', 'albumd'), words])
      return recorder
    },
    epilogue(text: string) {
      const codes = /^Exit codes: (.*)/.exec(text)?.[1]
      if (codes === undefined) told.notes.push(text)
      else told.exits = [...codes.matchAll(/\d+/g)].map(Number)
      return recorder
    },
  }
  builder(recorder as unknown as Parameters<CommandCode['builder']>[0])
  return told
}

/** Options that mean the same for every command that has them. command-line.md says it once. */
export const SHARED: readonly Declared[] = [configOption.config, jsonOption.json, quietOption.quiet]

/** Name and operands, with the options of SHARED that not all commands have. */
export function sharedUsage({ usage, options }: DeclaredCommand): string {
  const shared = options.filter(
    ([, declared]) => SHARED.includes(declared) && declared !== configOption.config,
  )
  return [usage, ...shared.map(([option]) => ` [--${option}]`)].join('')
}

/** An option as a person writes it: "--config FILE, -c FILE". A switch that is on by default is shown as its opposite. */
export function optionUsage(name: string, { type, alias, choices, default: usual }: Declared): string {
  const value = type === 'boolean' ? '' : ` ${choices ? choices.join('|') : 'VALUE'}`
  const long = `--${type === 'boolean' && usual === true ? 'no-' : ''}${name}`
  return alias === undefined ? `${long}${value}` : `${long}, -${alias}${value}`
}

/** The value of an option that is left out, in words; null when there is none. */
export function usualValue({ type, default: usual, defaultDescription }: Declared): string | null {
  if (defaultDescription !== undefined) return defaultDescription
  if (usual === undefined || type === 'boolean' || (Array.isArray(usual) && usual.length === 0)) return null
  return String(usual)
}
