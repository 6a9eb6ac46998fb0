import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import type { HostFailure } from '../../remote/host.ts'
import { recordStates } from '../../sync/record-pass.ts'
import { type Pause, pauseAt } from '../loop/pause.ts'
import { type MirrorStatus, statusOf } from '../report/status.ts'
import { type Verdict, verdictOn } from '../report/verdict.ts'
import type { CommandContext } from './command.ts'

/** How things stand after a pass. */
export interface PassResult {
  verdict: Verdict
  /** What the host answered that ended work early. */
  stopped: HostFailure[]
  mirrors: MirrorStatus[]
  /** Then nothing was sent or deleted. */
  paused: Pause | null
}

/** `work` answers what ended it early. The host is greeted beside it: an empty pass finds out too that it is away. */
export async function passResult(
  context: CommandContext,
  work: () => Promise<HostFailure[]>,
): Promise<PassResult> {
  const { config, synced, interruption } = context
  const now = Date.now()
  if (pauseAt(synced, now)) return standing(context, [])
  await tryAgain(context)
  const engine = context.engine()
  const [refusal, ended] = await Promise.all([engine.greet(interruption.cut), work()])
  const stopped = distinct([...(refusal ? [refusal] : []), ...ended])
  // The pass may have recorded how things stand before the host answered the greeting.
  await synced.commit(tx => recordStates(tx, engine.parts, stopped))
  const result = standing(context, stopped)
  return { ...result, verdict: verdictOn(statusOf(config, synced, true, Date.now()), stopped) }
}

function standing({ config, synced }: CommandContext, stopped: HostFailure[]): PassResult {
  const now = Date.now()
  const { mirrors } = statusOf(config, synced, true, now)
  return { verdict: 'left', stopped, mirrors, paused: pauseAt(synced, now) }
}

/** A person who asks is reason enough to ask the host again, outages included. A used-up quota has probes of its own. */
async function tryAgain(context: CommandContext): Promise<void> {
  const { host, synced, running } = context.engine().parts
  const blocks = host.blocks()
  const isUsedUp = (endpoint: Endpoint) =>
    blocks.some(block => block.endpoint === endpoint && block.remedy === 'quota')
  for (const endpoint of ENDPOINTS) if (!isUsedUp(endpoint)) host.unblock(endpoint)
  if (synced.escrow.postponed().length > 0) await synced.commit(tx => tx.escrow.hurry(running()))
}

function distinct(failures: HostFailure[]): HostFailure[] {
  return [...new Map(failures.map(failure => [`${failure.code} ${failure.endpoint}`, failure])).values()]
}
