import { resolve } from 'node:path'
import type { ArgumentsCamelCase, Argv, InferredOptionTypes } from 'yargs'
import type { Config } from '../config/schema.ts'
import { EXIT } from './exit-codes.ts'
import { type OnInterrupts, withInterrupts } from './terminal/interrupts.ts'
import { Problem } from './words/problem.ts'

/** `--config/-c`, for commands that need a config. */
export const configOption = {
  config: {
    alias: 'c',
    type: 'string',
    requiresArg: true,
    describe: 'The config file; else $ALBUMD_CONFIG, ./albumd.yaml, the user’s, /etc/albumd/config.yaml',
  },
} as const

/** Reads the config. read-config.ts loads the schema, so it is imported only when a config is read, and not for help texts. */
export async function readConfig(flag: string | undefined): Promise<Config> {
  const { readConfig } = await import('./read-config.ts')
  return readConfig(flag)
}

/** `--json`, for commands whose answer a program may read. */
export const jsonOption = {
  json: { type: 'boolean', default: false, describe: 'One object on standard output' },
} as const

/** The options of all commands. */
export type LogLevelArgs = InferredOptionTypes<typeof logLevelOption>

/** `--log-level`, for all commands. */
export const logLevelOption = {
  'log-level': {
    choices: ['error', 'warn', 'info', 'debug'],
    describe: 'How much run logs, instead of log.level; debug shows the stacks of errors',
  },
} as const

/** What yargs is given of a command, beside its name and its words (commands.ts). `exit` is told the exit code. */
export type MakeCommand = (exit: (code: number) => void) => {
  builder(options: Argv<LogLevelArgs>): Argv
  // biome-ignore lint/suspicious/noExplicitAny: each command has arguments of its own
  handler(args: any): Promise<void>
}

/** A command: its options, and its work, which answers the exit code. `A`: its arguments. A signal ends work that does not call `onInterrupts`. */
export function command<A>(
  builder: (options: Argv<LogLevelArgs>) => Argv<A>,
  work: (args: ArgumentsCamelCase<A>, onInterrupts: OnInterrupts) => Promise<number>,
): MakeCommand {
  return exit => ({
    builder,
    handler: async args => exit(await withInterrupts(onInterrupts => work(args, onInterrupts))),
  })
}

/** A path for the records: below a mirror's folder, or absolute. Refuses an empty path, which comes from a variable that is not set. */
export function pathArgument(path: string | undefined): string | undefined {
  if (path === '') throw new Problem(EXIT.usage, 'the path is empty; leave it out to mean everything.')
  return path !== undefined && /^\.\.?(\/|$)/.test(path) ? resolve(path) : path?.replace(/\/+$/, '')
}

/**
 * Like `pathArgument`, for a command that acts on records. As for `why` and `ls`, the path may also be below the working folder.
 * When several mirrors know the path, all of them are meant.
 */
export async function pathToActOn(config: Config, path: string | undefined): Promise<string | undefined> {
  const given = pathArgument(path)
  if (given === undefined || given.startsWith('/')) return given
  const { readState } = await import('../daemon/state/state.ts')
  const { locationsOf } = await import('../daemon/report/location.ts')
  const { fullPath } = await import('../sync/tree-path.ts')
  const places = readState(config, synced => locationsOf(config, synced, given))
  const [place] = places
  const isElsewhere = place !== undefined && places.length === 1 && place.path !== given
  return isElsewhere ? fullPath(place.mirror.folder, place.path) : given
}
