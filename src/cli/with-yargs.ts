import yargs, { type Argv, type CommandModule } from 'yargs'
import { version } from '../daemon/package.ts'
import { markOperands, refuseMisgiven, unmarkOperands, usageProblem } from './arguments.ts'
import { COMMANDS, type Command } from './commands.ts'
import { type LogLevelArgs, logLevelOption, yargsModule } from './options.ts'

/** Runs a command line that is not plain. `told`: called with the arguments before the work. Answers the command's name. */
export async function runWithYargs(
  args: readonly string[],
  told: (parsed: Record<string, unknown>) => void,
): Promise<string | undefined> {
  // A completion's words are not marked, because the last word is still being typed and may be two dashes.
  const words = args[0] === '--get-yargs-completions' ? [...args] : markOperands(args)
  const command = yargs()
    .scriptName('albumd')
    .usage('$0 <command>\n\nKeeps a folder of pictures and an image host the same.')
    .parserConfiguration({ 'camel-case-expansion': false })
    .options(logLevelOption)
    .middleware(unmarkOperands, true)
    .middleware(parsed => refuseMisgiven(words, parsed), true)
    .middleware(told, true)
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
  for (const each of COMMANDS) command.command(await moduleOf(each, args))
  const { _: named } = await command.parseAsync(words)
  return named[0]?.toString()
}

/** The options of the named command. yargs has this method for completions, and its types do not declare it. */
function optionsOf(command: Argv<object>): string[] {
  const { getOptions } = command as unknown as { getOptions(): { key: Record<string, unknown> } }
  return Object.keys(getOptions.call(command).key)
}

/** The yargs module of a command. The command's code is loaded only when the command's name is among the arguments. */
async function moduleOf(command: Command, args: readonly string[]): Promise<CommandModule<LogLevelArgs>> {
  if (args.includes(command.name)) return yargsModule(command, await command.load())
  return { command: command.command, describe: command.describe, handler() {} }
}
