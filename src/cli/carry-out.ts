import { existsSync, statSync } from 'node:fs'
import type { Config } from '../config/schema.ts'
import type { CommandName, RequestOf, ResultOf } from '../daemon/commands/all.ts'
import type { CommandOutput } from '../daemon/commands/command.ts'
import type { Interruption } from '../sync/pass-request.ts'
import { sayAside } from './terminal/output.ts'

const PATIENCE_MS = 3000

/** Carries out a command. A daemon that uses this state does it, and without one this process. Returns the result, and whether a
 * daemon did the work. Throws what the command throws. `shown`: how a person sees the work. `leave`: when it is aborted, nobody
 * waits for the daemon any more, which then goes on alone. */
export async function carryOut<N extends CommandName>(
  config: Config,
  name: N,
  request: RequestOf<N>,
  interruption: Interruption,
  shown: Partial<CommandOutput> = {},
  leave = interruption.stop,
): Promise<{ result: ResultOf<N>; byDaemon: boolean }> {
  const { stateFiles, whenFree } = await import('../daemon/state/claim.ts')
  const { refuseClosed } = await import('../daemon/state/state-problem.ts')
  refuseClosed(config.state_dir)
  const output: CommandOutput = { emit() {}, say: sayAside, progress() {}, ...shown }
  const { control, database } = stateFiles(config.state_dir)
  const byDaemon = async () => {
    // Without a socket no daemon runs, so the code that asks a daemon is not loaded.
    if (!existsSync(control)) return null
    const { askDaemon } = await import('../daemon/control/client.ts')
    const waiting = setTimeout(
      () => output.say('waiting until albumd has finished what it is doing'),
      PATIENCE_MS,
    )
    const asking = { ...output, begun: () => clearTimeout(waiting) }
    try {
      const answer = await askDaemon(control, config, name, request, asking, leave)
      return answer && { result: answer.done, byDaemon: true }
    } finally {
      clearTimeout(waiting)
    }
  }
  const here = async () => {
    if (name === 'sync' && isLarge(database)) {
      const { startThread } = await import('../local/scan-pool.ts')
      startThread(config.mirrors[0]!.folder)
    }
    const { carryOutHere, commands } = await import('../daemon/commands/all.ts')
    const { readAccess } = await import('./read-config.ts')
    const access = commands[name].needsHost ? readAccess(config) : null
    const result = await carryOutHere(config, access, name, request, output, interruption)
    return { result, byDaemon: false }
  }
  // The daemon is asked in each try, because it may have started since the last one.
  return whenFree(async () => (await byDaemon()) ?? here(), { stop: interruption.stop, say: output.say })
}

/** The size in bytes of a database with about ten thousand pictures. */
const LARGE = 4 * 2 ** 20

function isLarge(database: string): boolean {
  return (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > LARGE
}
