import { setImmediate as turn } from 'node:timers/promises'
import yargs, { type Argv, type CommandModule } from 'yargs'
import { version } from '../daemon/package.ts'
import { markOperands, refuseMisgiven, unmarkOperands } from './arguments.ts'
import { COMMANDS, type Command } from './commands.ts'
import { EXIT, exitCodesInHelp } from './exit-codes.ts'
import { type LogLevelArgs, logLevelOption } from './options.ts'
import { describeError, Problem } from './words/problem.ts'
import { usageProblem } from './words/usage-problem.ts'

/** Runs a command line. Answers the exit code. Never throws. */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.inSync
  let showStacks = false
  // For a completion the last word is the word that is being typed, and it may be two dashes.
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
      // yargs throws an error of its own for an option without its value.
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
    // Errors of a stream are emitted in the turn after the write.
    await turn()
    const lost = unwritten()
    // The daemon writes nothing but its log, so a lost line is no failure of its work.
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

/** The options of the named command. yargs has this method for completions, and its types do not declare it. */
function optionsOf(command: Argv<object>): string[] {
  const { getOptions } = command as unknown as { getOptions(): { key: Record<string, unknown> } }
  return Object.keys(getOptions.call(command).key)
}

/** Codes of a closed terminal, and of a closed pipe (`albumd sync | head`). */
const NOBODY_READS: ReadonlySet<unknown> = new Set(['EPIPE', 'EIO'])

/** Lets work go on when its output can't be written. Answers why output was lost that somebody may wait for. */
function onLostOutput(): () => string | null {
  let lost: string | null = null
  for (const out of [process.stdout, process.stderr])
    out.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!NOBODY_READS.has(code)) lost ??= code ?? message
    })
  return () => lost
}

/** The yargs module of a command. Its code is loaded only when its name is among the arguments. */
async function moduleOf(
  { command, describe, exits, load }: Command,
  args: readonly string[],
  exit: (code: number) => void,
): Promise<CommandModule<LogLevelArgs>> {
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
