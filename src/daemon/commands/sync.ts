import { z } from 'zod'
import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import { hurried } from '../../records/escrow.ts'
import type { HostFailure } from '../../remote/host.ts'
import { recordStates } from '../../sync/pass.ts'
import { type MirrorStatus, statusOf, type Verdict, verdictOn } from '../report/status.ts'
import { type Pause, pauseAt } from '../state/pause.ts'
import type { Command, CommandContext } from './command.ts'

export const syncCommand: Command<{ pruneIgnored: boolean }, PassResult> = {
  request: z.strictObject({ pruneIgnored: z.boolean() }),
  needsHost: true,
  carryOut: (context, { pruneIgnored }) =>
    passResult(context, async () => (await context.pass({ pruneIgnored })).stopped),
}

/** The result of a command that makes a pass. */
export interface PassResult {
  verdict: Verdict
  /** The host's answers that ended the work early. */
  stopped: HostFailure[]
  mirrors: MirrorStatus[]
  /** The pause that kept everything from being sent and deleted. Null: albumd is not paused. */
  paused: Pause | null
}

/**
 * Does `work`, which answers the host's refusals that ended it early. Asks the host for one page at the same time,
 * because a pass that has nothing to send would not notice that the host does not answer. While albumd is paused, `work`
 * is not done.
 */
export async function passResult(
  context: CommandContext,
  work: () => Promise<HostFailure[]>,
): Promise<PassResult> {
  const { config, synced } = context
  const isPaused = pauseAt(synced, Date.now()) !== null
  const stopped = isPaused ? [] : await whatStopped(context, work)
  const now = Date.now()
  const status = statusOf(config, synced, true, now)
  const verdict = isPaused ? 'left' : verdictOn(status, stopped)
  return { verdict, stopped, mirrors: status.mirrors, paused: pauseAt(synced, now) }
}

async function whatStopped(
  context: CommandContext,
  work: () => Promise<HostFailure[]>,
): Promise<HostFailure[]> {
  await tryAgain(context)
  const engine = context.engine()
  const [refusal, ended] = await Promise.all([engine.greet(context.interruption.cut), work()])
  const stopped = distinct([...(refusal ? [refusal] : []), ...ended])
  // The pass may have recorded the mirrors' states before the host answered `greet`.
  await context.synced.commit(tx => recordStates(tx, engine.context, stopped))
  return stopped
}

/** A command of a person tries everything again, except a used-up quota, because the quota is probed by itself. */
async function tryAgain(context: CommandContext): Promise<void> {
  const { host, synced, running } = context.engine().context
  const blocks = host.blocks()
  const isUsedUp = (endpoint: Endpoint) =>
    blocks.some(block => block.endpoint === endpoint && block.remedy === 'quota')
  for (const endpoint of ENDPOINTS) if (!isUsedUp(endpoint)) host.unblock(endpoint)
  if (synced.escrow.postponed().length > 0) await synced.commit(tx => hurried(tx, running()))
}

function distinct(failures: HostFailure[]): HostFailure[] {
  return [...new Map(failures.map(failure => [`${failure.code} ${failure.endpoint}`, failure])).values()]
}
