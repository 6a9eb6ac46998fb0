import { setImmediate as turn } from 'node:timers/promises'
import yargs, { type Argv, type CommandModule } from 'yargs'
import { version } from '../daemon/package.ts'
import { markOperands, refuseMisgiven, unmarkOperands, usageProblem } from './arguments.ts'
import { COMMANDS, type Command } from './commands.ts'
import { type LogLevelArgs, logLevelOption, yargsModule } from './options.ts'
import { describeError, EXIT, Problem } from './problem.ts'

/** Runs a command line, and sets the exit code. Never throws. */
export async function main(args: readonly string[]): Promise<void> {
  let showStacks = false
  // A completion's words are not marked, because the last word is still being typed and may be two dashes.
  const words = args[0] === '--get-yargs-completions' ? [...args] : markOperands(args)
  const command = yargs()
    .scriptName('albumd')
    .usage('$0 <command>\n\nKeeps a folder of pictures and an image host the same.')
    .parserConfiguration({ 'camel-case-expansion': false })
    .options(logLevelOption)
    .middleware(unmarkOperands, true)
    .middleware(parsed => refuseMisgiven(words, parsed), true)
    .middleware(parsed => {
      showStacks = parsed['log-level'] === 'debug'
    }, true)
    .demandCommand(1, 'Name a command.')
    .strict()
    .version(version)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .fail((message, error) => {
      // When an option has no value, yargs throws a YError, which is a mistake of usage.
      if (error && error.name !== 'YError') throw error
      throw usageProblem(message ?? error.message, args, optionsOf(command))
    })
  const unwritten = onLostOutput()
  try {
    for (const each of COMMANDS) command.command(await moduleOf(each, args))
    const { _: named } = await command.parseAsync(words)
    // A stream emits an error only in the turn after the write.
    await turn()
    const lost = unwritten()
    // For `run` a lost line is no failure, because `run` writes only the log.
    if (lost && !process.exitCode && named[0] !== 'run')
      throw new Problem(`what this command tells could not be written (${lost}); make room`, EXIT.unexpected)
  } catch (error) {
    const { exitCode, lines } = describeError(error)
    for (const line of lines.split('\n')) process.stderr.write(`albumd: ${line}\n`)
    if (showStacks && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    process.exitCode = exitCode
  }
}

/** The options of the named command. yargs has this method for completions, and its types do not declare it. */
function optionsOf(command: Argv<object>): string[] {
  const { getOptions } = command as unknown as { getOptions(): { key: Record<string, unknown> } }
  return Object.keys(getOptions.call(command).key)
}

/** The error codes for a closed terminal and for a closed pipe (`albumd sync | head`). Nobody reads the output then. */
const NOBODY_READS: ReadonlySet<unknown> = new Set(['EPIPE', 'EIO'])

/** Lets work go on when output can't be written. Answers why output was lost. Null: nothing was lost that has a reader. */
function onLostOutput(): () => string | null {
  let lost: string | null = null
  for (const out of [process.stdout, process.stderr])
    out.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!NOBODY_READS.has(code)) lost ??= code ?? message
    })
  return () => lost
}

/** The yargs module of a command. The command's code is loaded only when the command's name is among the arguments. */
async function moduleOf(command: Command, args: readonly string[]): Promise<CommandModule<LogLevelArgs>> {
  if (args.includes(command.name)) return yargsModule(command, await command.load())
  return { command: command.command, describe: command.describe, handler() {} }
}
