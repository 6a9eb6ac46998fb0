import type { Config } from '../config/schema.ts'
import type { DeedName, RequestOf, ResultOf } from '../daemon/deeds/all.ts'
import type { Hearing } from '../daemon/deeds/deed.ts'
import type { Interruption } from '../sync/interruption.ts'
import { printable } from './words/wording.ts'

/** After so long without a word a person is told what is waited for. */
const PATIENCE_MS = 3000

/** Says a line on standard error: standard output is for what was asked for. */
export function sayAside(line: string): void {
  process.stderr.write(`albumd: ${printable(line)}\n`)
}

/** For those who need not hear of the work while it goes on. */
export const silently: Hearing = { tell() {}, say: sayAside, progress() {} }

/** Has a deed done, by the daemon where one has this state, else here. Throws what the deed throws. */
export async function carryOut<N extends DeedName>(
  ...asked: Parameters<typeof carryOutBySomebody<N>>
): Promise<ResultOf<N>> {
  return (await carryOutBySomebody(...asked)).done
}

/** The same, and says who did it. */
export async function carryOutBySomebody<N extends DeedName>(
  config: Config,
  name: N,
  request: RequestOf<N>,
  hearing: Hearing,
  interruption: Interruption,
): Promise<{ done: ResultOf<N>; byDaemon: boolean }> {
  const { askDaemon } = await import('../daemon/control/client.ts')
  const { carryOutHere } = await import('../daemon/loop/carry-out-here.ts')
  const { deeds } = await import('../daemon/deeds/all.ts')
  const { stateFiles } = await import('../daemon/state/state.ts')
  const { refuseClosed } = await import('../daemon/state/state-trouble.ts')
  refuseClosed(config.state_dir)
  const waiting = setTimeout(() => hearing.say('waiting for what albumd is in the middle of'), PATIENCE_MS)
  const asking = { ...hearing, begun: () => clearTimeout(waiting) }
  try {
    const { control } = stateFiles(config.state_dir)
    const answer = await askDaemon(control, config, name, request, asking, interruption.stop)
    if (answer) return { done: answer.done, byDaemon: true }
  } finally {
    clearTimeout(waiting)
  }
  const { readAccess } = await import('./read-config.ts')
  const access = deeds[name].needsHost ? readAccess(config) : null
  const done = await carryOutHere(config, access, name, request, hearing, interruption)
  return { done, byDaemon: false }
}
