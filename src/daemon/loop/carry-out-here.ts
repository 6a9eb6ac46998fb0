import type { Config } from '../../config/schema.ts'
import type { Interruption } from '../../sync/interruption.ts'
import { type DeedName, deedNamed, type RequestOf, type ResultOf } from '../deeds/all.ts'
import type { Hearing, Means } from '../deeds/deed.ts'
import { openUploadCommand } from '../notify/upload-command.ts'
import { openState } from '../state/state.ts'
import { type Access, type Engine, openMirroring } from './mirroring.ts'

/** A person waits: trouble at the host is not waited out for long. A scan of theirs needs no grace. */
const TEMPER = { patience: { attempts: 4, maxDelayMs: 2000 }, graceMs: 0 }

/**
 * Carries a deed out in this process, which has the state meanwhile. `access`: asked for where the deed needs the host.
 * Throws what `openState` and the deed throw.
 */
export async function carryOutHere<N extends DeedName>(
  config: Config,
  access: Access | null,
  name: N,
  request: RequestOf<N>,
  hearing: Hearing,
  interruption: Interruption,
): Promise<ResultOf<N>> {
  const state = await openState(config, hearing.say)
  const onUpload = openUploadCommand(({ path, message }) =>
    hearing.say(`notify.on_upload${path === null ? '' : ` (${path})`}: ${message}`),
  )
  const tell = onUpload.beside(hearing.tell, config.notify.on_upload, state.synced)
  const worked = new AbortController()
  const tellingUploads = onUpload.run(interruption.stop, worked.signal)
  let engine: Engine | null = null
  const theEngine = () => {
    if (access === null) throw new Error(`${name} does not ask the host`)
    engine ??= openMirroring(config, access, state, TEMPER, tell)
    return engine
  }
  const means: Means = {
    config,
    synced: state.synced,
    engine: theEngine,
    interruption,
    hearing,
    pass: options => theEngine().pass(interruption, () => 'everything', options),
    othersWait: () => false,
    giveWay: async () => {},
  }
  try {
    return (await deedNamed(name)!.carryOut(means, request)) as ResultOf<N>
  } catch (error) {
    throw state.failed(error)
  } finally {
    await (engine as Engine | null)?.close()
    state.close()
    worked.abort()
    await tellingUploads
  }
}
