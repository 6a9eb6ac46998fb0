import yargs from 'yargs'
import { version } from '../daemon/version.ts'
import { adoptCommand } from './adopt.ts'
import { auditCommand } from './audit.ts'
import { deletionsCommand } from './deletions.ts'
import { EXIT } from './exit-codes.ts'
import { hostCommand } from './host.ts'
import { logLevelOption } from './log-level-option.ts'
import { markOperands, unmarkOperands } from './operands.ts'
import { pauseCommand } from './pause.ts'
import { describeError, Problem } from './problem.ts'
import { resumeCommand } from './resume.ts'
import { retryCommand } from './retry.ts'
import { runCommand } from './run.ts'
import { statusCommand } from './status.ts'
import { syncCommand } from './sync.ts'
import { trustCommand } from './trust.ts'
import { tryCommand } from './try.ts'
import { whyCommand } from './why.ts'

/** Runs one command line. Answers the exit code; never throws. */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.inSync
  let showStacks = false
  const command = yargs()
    .scriptName('albumd')
    .usage('$0 <command>\n\nKeeps a folder of pictures and an image host the same.')
    .options(logLevelOption)
    .command(runCommand(set))
    .command(syncCommand(set))
    .command(statusCommand(set))
    .command(whyCommand(set))
    .command(deletionsCommand(set))
    .command(auditCommand(set))
    .command(trustCommand(set))
    .command(retryCommand(set))
    .command(pauseCommand(set))
    .command(resumeCommand(set))
    .command(adoptCommand(set))
    .command(hostCommand(set))
    .command(tryCommand(set))
    .middleware(unmarkOperands, true)
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
      throw usageProblem(message ?? error.message)
    })
  // Whoever read along has gone (`albumd sync | head`): the work goes on without telling.
  for (const out of [process.stdout, process.stderr])
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  function set(code: number): void {
    exitCode = code
  }
  try {
    await command.parseAsync(markOperands(args))
    return exitCode
  } catch (error) {
    const described = describeError(error)
    for (const line of described.lines.split('\n')) process.stderr.write(`albumd: ${line}\n`)
    if (showStacks && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    return described.exitCode
  }
}

function usageProblem(message: string): Problem {
  return new Problem(
    EXIT.usage,
    `${message.replace(/\s*\n\s*/g, ' ').replace(/\.?$/, '.')} See albumd --help.`,
  )
}
