import type { CommandModule } from 'yargs'
import type { Config } from '../config/schema.ts'
import type { DaemonEvent } from '../daemon/daemon-event.ts'
import type { Access } from '../daemon/mirroring.ts'
import type { Renewable } from '../daemon/renewal.ts'
import type { PassEvent } from '../sync/pass-events.ts'
import { configOption, readAccess, readConfigAndAccess } from './config-option.ts'
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
    builder: command =>
      command
        .options(configOption)
        .example('$0 run -c albumd.yaml', 'Keep it mirrored')
        .epilogue(
          'SIGHUP reads the config and the key again; a config that is wrong is refused, and the one before stays. A ' +
            'key file that changes is read by itself. sync, retry, audit, adopt, deletions, trust, pause and resume ' +
            'are carried out by it while it runs.',
        ),
    handler: async args => exit(await run(args)),
  }
}

async function run({ config: flag, 'log-level': level }: RunArgs): Promise<number> {
  let readAgain = () => {}
  const interrupts = onInterrupts(
    () => {},
    () => readAgain(),
  )
  try {
    const { config, access } = readConfigAndAccess(flag)
    const { logEvent, openLog } = await import('../daemon/log.ts')
    const { keepMirrored } = await import('../daemon/keep-mirrored.ts')
    const secrets = new Set([access.apiKey])
    const known = (access: Access) => {
      secrets.add(access.apiKey)
      return access
    }
    const out = { out: process.stdout, secrets, env: process.env }
    const logOf = ({ log }: Config) => openLog({ ...log, ...(level && { level }) }, out)
    let log = logOf(config)
    interrupts.stop.addEventListener('abort', () => logEvent(log, { event: 'stopping' }))
    const listener = {
      tell: (told: PassEvent) => logEvent(log, told),
      say: (line: string) => logEvent(log, { event: 'warning' }, line),
      onPass() {},
      note: (event: DaemonEvent) => logEvent(log, event),
    }
    const renewable: Renewable = {
      onAsked(read) {
        readAgain = read
      },
      settings() {
        const read = readConfigAndAccess(flag)
        known(read.access)
        return read
      },
      accessFor: config => known(readAccess(config)),
      onTaken(settings) {
        log = logOf(settings.config)
      },
    }
    await keepMirrored(config, access, listener, interrupts, renewable)
    logEvent(log, { event: 'stopped' })
    return EXIT.inSync
  } finally {
    interrupts.dispose()
  }
}
