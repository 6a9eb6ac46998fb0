import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { type Access, type Engine, openEngine } from '../engine/engine.ts'
import { Bus } from '../events.ts'
import { UploadCommand } from '../notify/upload-command.ts'
import { openState } from '../state/state.ts'
import { type CommandName, commandNamed, type RequestOf, type ResultOf } from './all.ts'
import type { CommandContext, CommandOutput } from './command.ts'

/** A person waits, so an outage is not waited out for long. What the person's own scan misses needs no grace. */
const ONE_SHOT = { patience: { attempts: 4, maxDelayMs: 2000 }, graceMs: 0 }

/**
 * Carries a command out in this process, which locks the state meanwhile. `access` may be null where the command does
 * not need the host. Throws what `openState` and the command throw.
 */
export async function carryOutHere<N extends CommandName>(
  config: Config,
  access: Access | null,
  name: N,
  request: RequestOf<N>,
  output: CommandOutput,
  interruption: Interruption,
): Promise<ResultOf<N>> {
  const state = await openState(config, output.say)
  const onUpload = new UploadCommand(
    ({ path, message }) => output.say(`notify.on_upload${path === null ? '' : ` (${path})`}: ${message}`),
    interruption.stop,
  )
  const bus = new Bus()
  bus.on('pass', output.tell)
  onUpload.listen(bus, config.notify.on_upload, state.synced)
  let engine: Engine | null = null
  const theEngine = () => {
    if (access === null) throw new Error(`${name} does not ask the host`)
    engine ??= openEngine(config, access, state, ONE_SHOT, bus)
    return engine
  }
  const context: CommandContext = {
    config,
    synced: state.synced,
    engine: theEngine,
    interruption,
    output,
    pass: options => theEngine().pass(interruption, () => 'everything', options),
    othersWait: () => false,
    giveWay: async () => {},
  }
  try {
    return (await commandNamed(name)!.carryOut(context, request)) as ResultOf<N>
  } catch (error) {
    throw state.failed(error)
  } finally {
    await (engine as Engine | null)?.close()
    state.close()
    await onUpload.end()
  }
}
