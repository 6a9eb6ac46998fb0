import type { CommandModule } from 'yargs'
import { configOption, readConfigAndAccess } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onePass } from './one-pass.ts'
import { pathArgument } from './path-argument.ts'
import { Problem } from './problem.ts'
import { printable } from './wording.ts'

interface RetryArgs {
  path: string | undefined
  resend: string | undefined
  config: string | undefined
  json: boolean
}

export function retryCommand(exit: (code: number) => void): CommandModule<object, RetryArgs> {
  return {
    command: 'retry [path]',
    describe: 'Forget failures and try again now',
    builder: command =>
      command
        .positional('path', { type: 'string', describe: 'Only what failed at and below this path' })
        .options({
          ...configOption,
          resend: {
            type: 'string',
            requiresArg: true,
            describe:
              'Send a picture again whose upload can not be found out; it may then be on the host twice',
          },
          json: { type: 'boolean', default: false, describe: 'One summary object on standard output' },
        })
        .example('$0 retry', 'Try everything again that failed')
        .example('$0 retry --resend Holiday/a.jpg', 'Send a picture again whose outcome is not known'),
    handler: async args => exit(await retry(args)),
  }
}

async function retry({ path, resend: again, config: flag, json }: RetryArgs): Promise<number> {
  const { config, access } = readConfigAndAccess(flag)
  const { forgetFailures, hasFailures, resend } = await import('../daemon/retry.ts')
  return onePass(config, access, {
    json,
    async before({ synced }) {
      if (path !== undefined && !hasFailures(config, synced, pathArgument(path)!))
        throw new Problem(
          EXIT.usage,
          `retry ${printable(path)}: nothing failed at or below it; "albumd status" lists what did`,
        )
      if (path !== undefined || again === undefined) await forgetFailures(config, synced, pathArgument(path))
      if (again === undefined) return
      const files = await resend(config, synced, pathArgument(again)!, Date.now())
      if (files.length === 0)
        throw new Problem(
          EXIT.usage,
          `--resend ${printable(again)}: no upload there is in doubt; "albumd status" lists those that are.`,
        )
    },
  })
}
