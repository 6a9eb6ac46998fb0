import yargs from 'yargs'
import { version } from '../daemon/version.ts'
import { deletionsCommand } from './deletions.ts'
import { EXIT } from './exit-codes.ts'
import { hostCommand } from './host.ts'
import { describeError, Problem } from './problem.ts'
import { runCommand } from './run.ts'
import { statusCommand } from './status.ts'
import { syncCommand } from './sync.ts'
import { tryCommand } from './try.ts'

/** Runs one command line. Answers the exit code; never throws. */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.inSync
  const command = yargs()
    .scriptName('albumd')
    .usage('$0 <command>\n\nKeeps a folder of pictures and an image host the same.')
    .command(runCommand(set))
    .command(syncCommand(set))
    .command(statusCommand(set))
    .command(deletionsCommand(set))
    .command(hostCommand(set))
    .command(tryCommand(set))
    .option('log-level', {
      choices: ['error', 'warn', 'info', 'debug'] as const,
      describe: 'How much is told',
    })
    .demandCommand(1, 'Name a command.')
    .strict()
    .version(version)
    .help()
    .alias('help', 'h')
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new Problem(EXIT.usage, `${message.replace(/\s*\n\s*/g, ' ')} See albumd --help.`)
    })
  function set(code: number): void {
    exitCode = code
  }
  try {
    await command.parseAsync([...args])
    return exitCode
  } catch (error) {
    const { exitCode, lines } = describeError(error)
    for (const line of lines.split('\n')) process.stderr.write(`albumd: ${line}\n`)
    if (args.join(' ').includes('--log-level debug') && error instanceof Error)
      process.stderr.write(`${error.stack}\n`)
    return exitCode
  }
}
