import { setImmediate as turn } from 'node:timers/promises'
import yargs, { type Argv, type CommandModule } from 'yargs'
import { version } from '../daemon/package.ts'
import { COMMANDS, type Command } from './commands.ts'
import { EXIT, exitCodesInHelp } from './exit-codes.ts'
import { refuseMisgiven } from './given-options.ts'
import { logLevelOption } from './log-level-option.ts'
import { markOperands, unmarkOperands } from './operands.ts'
import { describeError, Problem } from './words/problem.ts'
import { usageProblem } from './words/usage-problem.ts'

/** Runs one command line. Answers the exit code; never throws. */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.inSync
  let showStacks = false
  // A completion's words end with the one that is being typed, which may be two dashes.
  const words = args[0] === '--get-yargs-completions' ? [...args] : markOperands(args)
  const command = yargs()
    .scriptName('albumd')
    .usage('$0 <command>\n\nKeeps a folder of pictures and an image host the same.')
    .options(logLevelOption)
    .middleware(unmarkOperands, true)
    .middleware(parsed => refuseMisgiven(words, parsed), true)
    .middleware(({ logLevel }) => {
      showStacks = logLevel === 'debug'
    }, true)
    .demandCommand(1, 'Name a command.')
    .strict()
    .version(version)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .fail((message, error) => {
      // An option without its value comes as an error of yargs' own.
      if (error && error.name !== 'YError') throw error
      throw usageProblem(message ?? error.message, args, optionsOf(command))
    })
  const unwritten = onLostOutput()
  function set(code: number): void {
    exitCode = code
  }
  try {
    for (const each of COMMANDS) command.command(await moduleOf(each, args, set))
    const { _: named } = await command.parseAsync(words)
    // A stream tells of its trouble after the write.
    await turn()
    const lost = unwritten()
    // What the daemon writes is its log alone, and it has done what it was there for.
    if (lost && exitCode === EXIT.inSync && named[0] !== 'run')
      throw new Problem(EXIT.unexpected, `what this command tells could not be written (${lost}); make room`)
    return exitCode
  } catch (error) {
    const described = describeError(error)
    for (const line of described.lines.split('\n')) process.stderr.write(`albumd: ${line}\n`)
    if (showStacks && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    return described.exitCode
  }
}

/** Those that the named command takes. yargs has this for whoever completes, and its types leave it out. */
function optionsOf(command: Argv<object>): string[] {
  const { getOptions } = command as unknown as { getOptions(): { key: Record<string, unknown> } }
  return Object.keys(getOptions.call(command).key)
}

/** A terminal that was closed, and whoever read along and has gone (`albumd sync | head`). */
const NOBODY_READS: ReadonlySet<unknown> = new Set(['EPIPE', 'EIO'])

/** No work ends because nobody hears of it. Answers why something could not be written that somebody waits for. */
function onLostOutput(): () => string | null {
  let lost: string | null = null
  for (const out of [process.stdout, process.stderr])
    out.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!NOBODY_READS.has(code)) lost ??= code ?? message
    })
  return () => lost
}

/** The command with all that it does where its name is among the arguments, else what the list of commands says. */
async function moduleOf(
  { command, describe, exits, load }: Command,
  args: readonly string[],
  exit: (code: number) => void,
): Promise<CommandModule> {
  const [name = ''] = command.split(' ')
  if (!args.includes(name)) return { command, describe, handler() {} }
  const { builder, handler } = (await load())(exit)
  return {
    command,
    describe,
    builder: inner => builder(inner).epilogue(exitCodesInHelp(exits)),
    handler,
  }
}
