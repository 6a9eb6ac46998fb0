import type { Config } from '../config/schema.ts'
import type { CommandName, RequestOf, ResultOf } from '../daemon/commands/all.ts'
import type { CommandOutput } from '../daemon/commands/command.ts'
import type { Interruption } from '../sync/pass-request.ts'
import { printable } from './words/wording.ts'

/** Milliseconds after which a person is told what albumd waits for. */
const PATIENCE_MS = 3000

/** Writes a line to standard error, because standard output is for results. */
export function sayAside(line: string): void {
  process.stderr.write(`albumd: ${printable(line)}\n`)
}

/** Shows nothing of the work. */
export const silently: CommandOutput = { tell() {}, say: sayAside, progress() {} }

/** Carries out a command, in the daemon when one uses this state, else in this process. Throws what the command throws. */
export async function carryOut<N extends CommandName>(
  ...asked: Parameters<typeof carryOutBySomebody<N>>
): Promise<ResultOf<N>> {
  return (await carryOutBySomebody(...asked)).done
}

/** Like `carryOut`, and says whether a daemon did it. */
export async function carryOutBySomebody<N extends CommandName>(
  config: Config,
  name: N,
  request: RequestOf<N>,
  output: CommandOutput,
  interruption: Interruption,
): Promise<{ done: ResultOf<N>; byDaemon: boolean }> {
  const { askDaemon } = await import('../daemon/control/client.ts')
  const { carryOutHere } = await import('../daemon/commands/carry-out-here.ts')
  const { commands } = await import('../daemon/commands/all.ts')
  const { stateFiles } = await import('../daemon/state/claim.ts')
  const { refuseClosed } = await import('../daemon/state/state-problem.ts')
  refuseClosed(config.state_dir)
  const waiting = setTimeout(() => output.say('waiting for what albumd is in the middle of'), PATIENCE_MS)
  const asking = { ...output, begun: () => clearTimeout(waiting) }
  try {
    const { control } = stateFiles(config.state_dir)
    const answer = await askDaemon(control, config, name, request, asking, interruption.stop)
    if (answer) return { done: answer.done, byDaemon: true }
  } finally {
    clearTimeout(waiting)
  }
  const { readAccess } = await import('./read-config.ts')
  const access = commands[name].needsHost ? readAccess(config) : null
  const done = await carryOutHere(config, access, name, request, output, interruption)
  return { done, byDaemon: false }
}
