import type { CommandModule } from 'yargs'
import { configOption, readConfigAndKey } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'

interface RunArgs {
  config: string | undefined
}

export function runCommand(exit: (code: number) => void): CommandModule<object, RunArgs> {
  return {
    command: 'run',
    describe: 'The daemon, in the foreground, until SIGTERM or Ctrl-C',
    builder: command => command.options(configOption).example('$0 run -c albumd.yaml', 'Keep it mirrored'),
    handler: async args => exit(await run(args)),
  }
}

async function run({ config: flag }: RunArgs): Promise<number> {
  const { config, apiKey } = readConfigAndKey(flag)
  const { logEvent, openLog } = await import('../daemon/log.ts')
  const { keepMirrored } = await import('../daemon/keep-mirrored.ts')
  const log = openLog(config.log, process.stdout)
  const interrupts = onInterrupts(() => log.info({ event: 'stopping' }, 'stopping'))
  const listener = {
    tell: (told: Parameters<typeof logEvent>[1]) => logEvent(log, told),
    say: (line: string) => log.warn({ event: 'warning' }, line),
    onPass() {},
  }
  try {
    await keepMirrored(config, apiKey, listener, interrupts)
    log.info({ event: 'stopped' }, 'stopped')
    return EXIT.inSync
  } finally {
    interrupts.dispose()
  }
}
