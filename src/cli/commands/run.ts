import { flushCompileCache } from 'node:module'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import type { Config } from '../../config/schema.ts'
import type { Access } from '../../daemon/engine/remote.ts'
import type { Renewable } from '../../daemon/loop/settings.ts'
import { command, configOption } from '../options.ts'
import { describeError, EXIT } from '../problem.ts'
import type { OnInterrupts } from '../terminal/interrupts.ts'

export const runCommand = command(
  options =>
    options
      .options(configOption)
      .example('$0 run -c albumd.yaml', 'Keep it mirrored')
      .epilogue(
        'SIGHUP makes it read config and key again, and so does a change of the files of key, password and certificates. What systemd hands in changes with a restart alone. A wrong config is refused, and the one before stays.',
      ),
  async ({ config, 'log-level': level }, onInterrupts) => {
    let log: Logger | null = null
    try {
      await runDaemon(config, level, onInterrupts, opened => {
        log = opened
      })
      return EXIT.inSync
    } catch (error) {
      // On a terminal, a person reads the error's line on standard error.
      if (process.stdout.isTTY || !(await logFailure(error, log)) || level === 'debug') throw error
      return describeError(error).exitCode
    }
  },
)

/** Logs a failure as an event, because only an event has a priority in the journal. Returns whether standard error is the same
 * journal, where one line is enough. */
async function logFailure(error: unknown, log: Logger | null): Promise<boolean> {
  const { isJournal, logEvent, openLog } = await import('../../daemon/report/log.ts')
  const { code, lines: message } = describeError(error)
  const out = { out: process.stdout, secrets: new Set<string>(), env: process.env }
  logEvent(log ?? openLog({ level: 'error', format: 'auto' }, out), { event: 'failed', code, message })
  return [1, 2].every(fd => isJournal(fd, process.env))
}

async function runDaemon(
  flag: string | undefined,
  level: Config['log']['level'] | undefined,
  onInterrupts: OnInterrupts,
  onLog: (log: Logger) => void,
): Promise<void> {
  let readAgain = () => {}
  const interrupts = onInterrupts(undefined, () => readAgain())
  const { readAccess, readConfig } = await import('../read-config.ts')
  const { findConfig } = await import('../../config/config-file.ts')
  const file = findConfig(process.env, process.cwd(), flag)
  const warnings: string[] = []
  const warn = (line: string) => void warnings.push(line)
  const config = await readConfig(file, warn)
  const access = readAccess(config, warn)
  const { logEvent, openLog } = await import('../../daemon/report/log.ts')
  const { Bus } = await import('../../daemon/events.ts')
  const { secretsOf } = await import('../../daemon/engine/remote.ts')
  const { supervise } = await import('../../daemon/loop/supervisor.ts')
  const { openServiceManager } = await import('../../daemon/notify/service-manager.ts')
  const { StatusPage } = await import('../../page/status-page.ts')
  const { systemClock } = await import('../../protocol/clock.ts')
  const { version } = await import('../../daemon/package.ts')
  // Keeps V8 from optimizing undici's parser of answers, which is WebAssembly: it would take 20 MB for a moment and save
  // little time. V8 refuses code that was cached under other flags, so the code that is compiled by now is cached first.
  flushCompileCache()
  setFlagsFromString('--wasm-tiering-budget=1000000000')
  // V8 checks every eight seconds whether to collect garbage, even at rest. Newer versions of V8 wait 30 seconds.
  setFlagsFromString('--gc-memory-reducer-start-delay-ms=30000')
  const secrets = new Set(secretsOf(access))
  const known = (access: Access) => {
    for (const secret of secretsOf(access)) secrets.add(secret)
    return access
  }
  const bus = new Bus()
  const out = { out: process.stdout, secrets, env: process.env }
  const logOf = ({ log }: Config) => openLog({ ...log, ...(level && { level }) }, out)
  let log = logOf(config)
  onLog(log)
  const { listen } = config.status_page
  const shown = (at: typeof listen) => (at ? `${at.host}:${at.port}` : 'off')
  const picgo = config.picgo_server
  const listeners = {
    page: shown(listen),
    picgo_server: shown(picgo.folder === undefined ? null : picgo.listen),
  }
  interrupts.stop.addEventListener('abort', () => logEvent(log, { event: 'stopping' }))
  bus.on('news', emitted => logEvent(log, emitted))
  bus.on('daemon', event => logEvent(log, event))
  bus.on('say', line => logEvent(log, { event: 'warning' }, line))
  for (const line of warnings) bus.say(line)
  const display = new StatusPage(systemClock, bus)
  const renewable: Renewable = {
    file: resolve(file),
    onAsked(read) {
      readAgain = read
    },
    async settings() {
      const config = await readConfig(file, bus.say)
      return { config, access: known(readAccess(config, bus.say)) }
    },
    accessFor: config => known(readAccess(config, bus.say)),
    onTaken(settings) {
      log = logOf(settings.config)
      onLog(log)
    },
  }
  const manager = openServiceManager(process.env, systemClock, bus.say)
  const onStarted = () =>
    logEvent(log, { event: 'started', version, pid: process.pid, config: resolve(file), ...listeners })
  await supervise(config, access, bus, interrupts, { renewable, manager, display, onStarted })
  logEvent(log, { event: 'stopped' })
}
