import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Argv, CommandModule, InferredOptionTypes } from 'yargs'
import type { Config } from '../config/schema.ts'
import type { MirrorLocation } from '../sync/scan/index.ts'
import type { Synced } from '../synced/synced.ts'
import { exitCodesInHelp, Problem } from './problem.ts'
import { type OnInterrupts, withInterrupts } from './terminal/interrupts.ts'

export function flag(describe: string) {
  return { type: 'boolean', default: false, describe } as const
}

/** An option with a value. A number is read as text, because yargs reads `--page 1 --page 1` as 2. `usual`: the
 * default, for the help. */
export function valued(describe: string, usual?: string) {
  const asDefault = usual === undefined ? {} : { defaultDescription: usual }
  return { type: 'string', requiresArg: true, describe, ...asDefault } as const
}

export const configOption = {
  config: {
    alias: 'c',
    ...valued(
      'The config file; else the first of $ALBUMD_CONFIG, ./albumd.yaml, ~/.config/albumd/config.yaml, /etc/albumd/config.yaml',
    ),
  },
} as const

export const jsonOption = {
  json: flag('Write one JSON object'),
} as const

export const quietOption = {
  quiet: flag('Print only errors, and the data that was asked for'),
} as const

export type LogLevelArgs = InferredOptionTypes<typeof logLevelOption>

export const logLevelOption = {
  'log-level': {
    choices: ['error', 'warn', 'info', 'debug'],
    describe: 'How much run logs, instead of log.level; debug shows the stacks of errors',
  },
} as const

/** A command's options and work. commands.ts has its name and description. The handler sets the process's exit code. */
export interface CommandCode {
  builder(options: Argv<LogLevelArgs>): Argv
  // biome-ignore lint/suspicious/noExplicitAny: each command has arguments of its own
  handler(args: any): Promise<void>
}

export function yargsModule(
  { command, describe, exits }: { command: string; describe: string; exits: readonly number[] },
  { builder, handler }: CommandCode,
): CommandModule<LogLevelArgs> {
  return { command, describe, builder: options => builder(options).epilogue(exitCodesInHelp(exits)), handler }
}

/** Makes a command from its options and its work, which returns the exit code. `A`: the arguments. When the work does not call
 * `onInterrupts`, a signal ends the process. */
export function command<A>(
  builder: (options: Argv<LogLevelArgs>) => Argv<A>,
  work: (args: A, onInterrupts: OnInterrupts) => Promise<number>,
): CommandCode {
  return {
    builder,
    async handler(args) {
      process.exitCode = await withInterrupts(onInterrupts => work(args, onInterrupts))
    },
  }
}

export function configCommand<A>(
  builder: (options: Argv<LogLevelArgs & InferredOptionTypes<typeof configOption>>) => Argv<A>,
  work: (config: Config, args: A, onInterrupts: OnInterrupts) => Promise<number>,
): CommandCode {
  return command(
    options => builder(options.options(configOption)),
    async (args, onInterrupts) => {
      const { readConfig } = await import('./read-config.ts')
      return work(await readConfig((args as { config?: string }).config), args, onInterrupts)
    },
  )
}

/** A path for the records: below a mirror's folder, or absolute. What lies in the working folder is meant first, as in a shell,
 * and not a picture of the same name in a mirror. Refuses an empty path, which comes from a shell variable that is not set. */
export function pathArgument(path: string | undefined): string | undefined {
  if (path === '')
    throw new Problem('The path is empty. Name a path; a shell variable in its place may not be set')
  if (path === undefined) return undefined
  const isHere = /^\.\.?(\/|$)/.test(path) || existsSync(path)
  return isHere ? resolve(path) : path.replace(/\/+$/, '')
}

/** Like `pathArgument`, for a command that acts on records. The path may also be below the working folder, as for `why` and `ls`.
 * A path that several mirrors know stays as it is. The command then says whether it means all of them. */
export async function pathToActOn(config: Config, path: string | undefined): Promise<string | undefined> {
  const given = pathArgument(path)
  if (given === undefined) return given
  const { readState } = await import('../daemon/state/state.ts')
  const { locationsOf } = await import('../daemon/report/mirrored-pictures.ts')
  const { fullPath } = await import('../sync/tree-path.ts')
  const places = readState(config, synced => locationsOf(config, synced, given))
  const [place] = places
  const isElsewhere = place !== undefined && places.length === 1 && place.path !== given
  return isElsewhere ? fullPath(place.mirror.folder, place.path) : given
}

export function wholeMirrors({ mirrors }: Config): MirrorLocation[] {
  return mirrors.map(mirror => ({ mirror, path: '' }))
}

/** Returns a function that finds the locations of paths from a command line, one or several for each. It throws Problem for a
 * path in no mirror, and for a path that neither disk nor records know. `oneIsEnough`: a path that nobody knows is no problem
 * beside one that is known. */
export async function locator(config: Config, oneIsEnough = false) {
  const { because, inWords } = await import('../words/reasons.ts')
  const { printable } = await import('../words/text.ts')
  const { isKnownAt, locationsOf } = await import('../daemon/report/mirrored-pictures.ts')
  const { fullPath } = await import('../sync/tree-path.ts')
  return (synced: Synced, ...paths: readonly string[]): MirrorLocation[] => {
    const places = paths.flatMap(path => {
      if (/^https?:\/\//.test(path)) throw new Problem(`${printable(path)}: No picture has this address`)
      const found = locationsOf(config, synced, pathArgument(path))
      if (found.length > 0) return found
      throw new Problem(
        printable(inWords(because('in_no_mirror', { path: resolve(path), mirrors: config.mirrors }))),
      )
    })
    // A path that nobody knows stands for one place, and a person may not have meant that.
    const unknown = places.filter(place => !isKnownAt(synced, place))
    const [first] = oneIsEnough && unknown.length < places.length ? [] : unknown
    if (!first) return places
    const path = fullPath(first.mirror.folder, first.path)
    throw new Problem(`${printable(path)}: ${inWords(because('not_known'))}`)
  }
}

/** The locations of paths from a command line, for a command that sends pictures. Throws ConfigError where the folder of one of
 * their mirrors is missing. It does so before it refuses a path that nobody knows, because the path may lie in that folder.
 * Otherwise throws as `locationsToActOn`. */
export async function locationsToSend(
  config: Config,
  paths: readonly string[],
  oneIsEnough?: boolean,
): Promise<MirrorLocation[]> {
  if (paths.length === 0) return []
  const { refuseMissingFolders } = await import('./read-config.ts')
  const places = await locationsToActOn(config, paths, oneIsEnough).catch(error => {
    refuseMissingFolders(config)
    throw error
  })
  const needed = places.map(({ mirror }) => mirror)
  refuseMissingFolders(config, needed)
  return places
}

/** What lies at the places that a command is to send. Throws Problem for what is left out. But an empty file is returned, because
 * it may still be written. `prunes`: what an ignore rule hides is returned too. */
export async function looksToSend(places: readonly MirrorLocation[], prunes = false) {
  const { realDisk } = await import('../local/disk.ts')
  const { lookAt } = await import('../sync/scan/index.ts')
  const { fullPath } = await import('../sync/tree-path.ts')
  const { inWords } = await import('../words/reasons.ts')
  const { printable } = await import('../words/text.ts')
  return places.map(place => {
    const path = fullPath(place.mirror.folder, place.path)
    const found = lookAt(realDisk, place)
    if (found.kind === 'left_out' && found.why !== 'empty' && !(prunes && found.why === 'ignored'))
      throw new Problem(`${printable(path)} is left out: ${inWords(found.reason)}`)
    return { path, found }
  })
}

/** The locations that paths of a command line name. Throws Problem as `locator` tells. */
export async function locationsToActOn(
  config: Config,
  paths: readonly string[],
  oneIsEnough?: boolean,
): Promise<MirrorLocation[]> {
  // Without a path the state is not read: it may be damaged, and then sync sets it aside.
  if (paths.length === 0) return []
  const { readState } = await import('../daemon/state/state.ts')
  const locate = await locator(config, oneIsEnough)
  return readState(config, synced => locate(synced, ...paths))
}
