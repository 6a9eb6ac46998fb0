import type { Config } from '../config/schema.ts'
import { systemClock } from '../sync/clock.ts'
import type { Interruption } from '../sync/interruption.ts'
import { StateError } from '../synced/state-error.ts'
import type { Synced } from '../synced/synced.ts'
import { Errands, NotNow } from './control/errands.ts'
import { openControl } from './control/open.ts'
import { keepTrying } from './keep-trying.ts'
import type { Listener } from './listener.ts'
import type { Access } from './mirroring.ts'
import { HealthWatch, openNotifier, stateTrouble } from './notify/health-watch.ts'
import type { Notifier } from './notify/notifier.ts'
import { type Renewable, renew } from './renewal.ts'
import { runDaemon } from './run-daemon.ts'
import { CurrentSettings } from './settings.ts'
import { type Claim, claimState, openClaimed, stateFiles } from './state.ts'
import { beginTroubleNote } from './trouble-note.ts'

/**
 * The daemon from its start to its end. Throws what openState throws, but where the state fails and may work later: then
 * it waits, and begins anew with what is recorded. `renewable`: where it has other settings from; else they stay.
 */
export async function keepMirrored(
  config: Config,
  access: Access,
  listener: Listener,
  interruption: Interruption,
  renewable: Renewable | null = null,
): Promise<void> {
  const { say } = listener
  const { control: socket, trouble } = stateFiles(config.state_dir)
  const claim = await claimState(config)
  const settings = new CurrentSettings({ config, access }, claim.roots)
  const errands = new Errands()
  const troubleNote = beginTroubleNote(trouble)
  const control = await openControl(socket, errands, listener)
  const ended = new AbortController()
  const notifier = openNotifier(config, systemClock, listener.note)
  const notifying = notifier.run(ended.signal)
  const renewing = renewable && renew(settings, errands, renewable, listener.note, ended.signal)
  try {
    const tellTrouble = (line: string | null) => {
      troubleNote.write(line)
      if (line !== null) notifier.lookAt(stateTrouble(line), null)
      say(line ?? 'the state works again; albumd goes on')
    }
    const work = (allIsWell: () => void) => {
      const onPass = (synced: Synced) => {
        allIsWell()
        listener.onPass(synced)
      }
      return workOn(settings, claim, errands, notifier, { ...listener, onPass }, interruption)
    }
    await keepTrying(work, tellTrouble, systemClock, interruption.stop)
  } finally {
    errands.close(ENDED)
    ended.abort()
    await renewing
    await notifying
    await control.close()
    troubleNote.remove()
    claim.release()
  }
}

const ENDED = new NotNow('DAEMON_ENDED', 'the daemon was stopped before this was done; run it again')
const RENEWED = new NotNow(
  'DAEMON_ENDED',
  'the daemon has taken another config or key before this was done; run it again',
)

/** Works with the current settings, and with others once they are taken. Throws StateError where the state fails. */
async function workOn(
  settings: CurrentSettings,
  claim: Claim,
  errands: Errands,
  notifier: Notifier,
  listener: Listener,
  interruption: Interruption,
): Promise<void> {
  while (!interruption.stop.aborted) {
    const { config, access, replaced } = settings.begin()
    try {
      const state = openClaimed(config, claim, listener.say)
      try {
        settings.prove()
        const stop = AbortSignal.any([interruption.stop, replaced])
        const health = new HealthWatch(notifier, config, state.synced, systemClock)
        await runDaemon(config, access, state, errands, health.beside(listener), { ...interruption, stop })
      } catch (error) {
        throw state.failed(error)
      } finally {
        errands.leave(interruption.stop.aborted ? ENDED : RENEWED)
        state.close()
      }
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      if (isOfAnother(error) && settings.goBack()) {
        listener.note({ event: 'config_refused', message: `${error.message}; the config from before stays` })
        continue
      }
      errands.close(new NotNow(error.code, error.message))
      throw error
    }
    if (!replaced.aborted) return
  }
}

function isOfAnother({ code }: StateError): boolean {
  return code.startsWith('STATE_OTHER_')
}
