import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { type Access, type Engine, openEngine } from '../engine/engine.ts'
import { Bus } from '../events.ts'
import { UploadCommand } from '../notify/upload-command.ts'
import { claimState } from '../state/claim.ts'
import { openClaimed, type State } from '../state/state.ts'
import { type CommandName, commandNamed, type RequestOf, type ResultOf } from './all.ts'
import type { CommandContext, CommandOutput } from './command.ts'

/** A person waits, so an outage is not waited out for long. What the person's own scan misses needs no grace. */
const ONE_SHOT = { patience: { attempts: 4, maxDelayMs: 2000 }, graceMs: 0 }

/**
 * Carries a command out in this process, which locks the state meanwhile. `access` may be null where the command does
 * not need the host. Throws LockedError, StateError, and what the command throws.
 */
export async function carryOutHere<N extends CommandName>(
  config: Config,
  access: Access | null,
  name: N,
  request: RequestOf<N>,
  output: CommandOutput,
  interruption: Interruption,
): Promise<ResultOf<N>> {
  const claim = await claimState(config)
  let state: State | null = null
  let engine: Engine | null = null
  const onUpload = new UploadCommand(
    ({ path, message }) => output.say(`notify.on_upload${path === null ? '' : ` (${path})`}: ${message}`),
    interruption.stop,
  )
  try {
    state = openClaimed(config, claim, output.say)
    const { synced } = state
    const bus = new Bus()
    bus.on('pass', output.tell)
    onUpload.listen(bus, config.notify.on_upload, synced)
    const context: CommandContext = {
      config,
      synced,
      engine: () => (engine ??= openEngine(config, access!, state!, ONE_SHOT, bus)),
      interruption,
      output,
      pass: options => context.engine().pass(interruption, () => 'everything', options),
      othersWait: () => false,
      giveWay: async () => {},
    }
    return (await commandNamed(name)!.carryOut(context, request)) as ResultOf<N>
  } catch (error) {
    throw state ? state.failed(error) : error
  } finally {
    await (engine as Engine | null)?.close()
    try {
      state?.close()
    } finally {
      claim.release()
    }
    await onUpload.end()
  }
}
