import type { CommandModule } from 'yargs'
import type { PassEvent } from '../sync/pass-events.ts'
import { configOption, readConfigAndAccess } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'
import type { LogLevelArgs } from './log-level-option.ts'

interface RunArgs extends LogLevelArgs {
  config: string | undefined
}

export function runCommand(exit: (code: number) => void): CommandModule<LogLevelArgs, RunArgs> {
  return {
    command: 'run',
    describe: 'The daemon, in the foreground, until SIGTERM or Ctrl-C',
    builder: command => command.options(configOption).example('$0 run -c albumd.yaml', 'Keep it mirrored'),
    handler: async args => exit(await run(args)),
  }
}

async function run({ config: flag, 'log-level': level }: RunArgs): Promise<number> {
  const interrupts = onInterrupts()
  try {
    const { config, access } = readConfigAndAccess(flag)
    const { logEvent, openLog } = await import('../daemon/log.ts')
    const { keepMirrored } = await import('../daemon/keep-mirrored.ts')
    const log = openLog({ ...config.log, ...(level && { level }) }, process.stdout)
    interrupts.stop.addEventListener('abort', () => log.info({ event: 'stopping' }, 'stopping'))
    const listener = {
      tell: (told: PassEvent) => logEvent(log, told),
      say: (line: string) => log.warn({ event: 'warning' }, line),
      onPass() {},
    }
    await keepMirrored(config, access, listener, interrupts)
    log.info({ event: 'stopped' }, 'stopped')
    return EXIT.inSync
  } finally {
    interrupts.dispose()
  }
}
