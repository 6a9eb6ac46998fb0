import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/interruption.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import { CommandQueue, NotNow } from '../commands/queue.ts'
import { openControl } from '../control/open.ts'
import type { Listener } from '../listener.ts'
import { HealthWatch, openNotifier, stateProblem } from '../notify/health-watch.ts'
import type { Notifier } from '../notify/notifier.ts'
import { openUploadCommand, type UploadCommand } from '../notify/upload-command.ts'
import type { Display } from '../report/display.ts'
import { reportTo } from '../service-manager/report.ts'
import type { ServiceManager } from '../service-manager/service-manager.ts'
import { beginProblemNote } from '../state/problem-note.ts'
import { type Renewable, renew } from '../state/renewal.ts'
import { CurrentSettings } from '../state/settings.ts'
import { type Claim, claimState, openClaimed, stateFiles } from '../state/state.ts'
import { keepTrying } from './keep-trying.ts'
import type { Access } from './mirroring.ts'
import { runDaemon } from './run-daemon.ts'

/** What may stand around a daemon. */
export interface Around {
  /** Where it has other settings from; else they stay. */
  renewable?: Renewable | null
  /** Who started it and keeps it up. */
  manager?: ServiceManager | null
  /** What shows it at work. */
  display?: Display | null
}

/**
 * The daemon from its start to its end. Throws what openState throws, but where the state fails and may work later: then
 * it waits, and begins anew with what is recorded.
 */
export async function keepMirrored(
  config: Config,
  access: Access,
  listener: Listener,
  interruption: Interruption,
  { renewable = null, manager = null, display = null }: Around = {},
): Promise<void> {
  const { say } = listener
  const { control: socket, trouble: troubleFile } = stateFiles(config.state_dir)
  const claim = await claimState(config)
  const settings = new CurrentSettings({ config, access }, claim.roots)
  const queue = new CommandQueue()
  let troubleNote = beginProblemNote(troubleFile)
  let control = await openControl(socket, queue, listener)
  let trouble: string | null = null
  await display?.open({ config: () => settings.current.config, queue, problem: () => trouble })
  const ended = new AbortController()
  const notifier = openNotifier(config, systemClock, listener.note)
  const notifying = notifier.run(ended.signal)
  const onUpload = openUploadCommand(listener.note)
  const tellingUploads = onUpload.run(ended.signal)
  const renewing = renewable && renew(settings, queue, renewable, listener.note, ended.signal, manager)
  const onStop = () => manager?.stopping()
  interruption.stop.addEventListener('abort', onStop)
  try {
    const tellTrouble = (line: string | null) => {
      trouble = line
      troubleNote.write(line)
      if (line !== null) notifier.lookAt(stateProblem(line), null)
      if (line !== null) manager?.status(line)
      // It is up, though it waits.
      manager?.ready()
      say(line ?? 'the state works again; albumd goes on')
    }
    const renewFolder = async () => {
      if (!claim.folder.renew()) return
      troubleNote = beginProblemNote(troubleFile)
      troubleNote.write(trouble)
      await control.close()
      control = await openControl(socket, queue, listener)
      await display?.folderRenewed()
    }
    const work = async (allIsWell: () => void) => {
      manager?.alive()
      await renewFolder()
      const onPass = (synced: Synced) => {
        allIsWell()
        listener.onPass(synced)
      }
      const tellers = { notifier, onUpload, manager }
      await workOn(settings, claim, queue, tellers, { ...listener, onPass }, interruption)
    }
    await keepTrying(work, tellTrouble, systemClock, interruption.stop)
  } finally {
    queue.close(ENDED)
    ended.abort()
    await renewing
    await notifying
    await tellingUploads
    await display?.close()
    await control.close()
    troubleNote.remove()
    claim.release()
    interruption.stop.removeEventListener('abort', onStop)
    await manager?.settled()
  }
}

const ENDED = new NotNow('DAEMON_ENDED', 'the daemon was stopped before this was done; run it again')
const RENEWED = new NotNow(
  'DAEMON_ENDED',
  'the daemon has taken another config or key before this was done; run it again',
)

/** Who tells others how it goes. */
interface Tellers {
  notifier: Notifier
  onUpload: UploadCommand
  manager: ServiceManager | null
}

/** Works with the current settings, and with others once they are taken. Throws StateError where the state fails. */
async function workOn(
  settings: CurrentSettings,
  claim: Claim,
  queue: CommandQueue,
  { notifier, onUpload, manager }: Tellers,
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
        const tell = onUpload.beside(listener.tell, config.notify.on_upload, state.synced)
        const reporting = reportTo(manager, { ...listener, tell }, config, state.synced, systemClock)
        manager?.ready()
        const output = health.beside(reporting)
        await runDaemon(config, access, state, queue, output, { ...interruption, stop })
      } catch (error) {
        throw state.failed(error)
      } finally {
        manager?.forget()
        queue.leave(interruption.stop.aborted ? ENDED : RENEWED)
        state.close()
      }
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      if (isOfAnother(error) && settings.goBack()) {
        listener.note({ event: 'config_refused', message: `${error.message}; the config from before stays` })
        continue
      }
      queue.close(new NotNow(error.code, error.message))
      throw error
    }
    if (!replaced.aborted) return
  }
}

function isOfAnother({ code }: StateError): boolean {
  return code.startsWith('STATE_OTHER_')
}
