import type { Config } from '../../config/schema.ts'
import { type Clock, systemClock } from '../../protocol/clock.ts'
import { givenGrace } from '../../records/escrow.ts'
import type { EarlierRequests } from '../../remote/gate/rate-window.ts'
import type { SharedAccount } from '../../shared/account.ts'
import { lossEndsAt } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { StateError } from '../../synced/state-error.ts'
import { because, inWords } from '../../words/reasons.ts'
import { Refused } from '../commands/command.ts'
import { CommandQueue, ENDED } from '../commands/queue.ts'
import { openControl } from '../control/server.ts'
import { type OpenClaims, openClaims } from '../engine/claims.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { type Access, openSharedAccount } from '../engine/remote.ts'
import { type Bus, newsFilter } from '../events.ts'
import { type Alert, waitsAlert } from '../notify/health.ts'
import { Notifier, watchHealth } from '../notify/notifier.ts'
import type { ServiceManager } from '../notify/service-manager.ts'
import { UploadCommand } from '../notify/upload-command.ts'
import { type Claim, claimWhenFree, fingerprintOf, stateFiles } from '../state/claim.ts'
import { openClaimed } from '../state/state.ts'
import { Loop } from './loop.ts'
import { auditBySchedule, cronSchedule } from './schedule.ts'
import { CurrentSettings, type Renewable } from './settings.ts'

/** What a display, such as the status page, may see of the daemon. */
export interface DaemonView {
  config(): Config
  /** The file that the config is read from. Null: there is none. */
  configFile: string | null
  /** The queue of commands. It also holds the current session, where one is open. */
  queue: CommandQueue
  problem(): Alert | null
}

/** Shows the daemon at work, for example on the page. When a display can't be opened it says why, and the daemon goes on. */
export interface Display {
  open(daemon: DaemonView): Promise<void>
  /** The state folder was replaced by another one, so the display must make its files and sockets in the new folder. */
  folderRenewed(): Promise<void>
  close(): Promise<void>
}

export interface Surroundings {
  /** Where the daemon gets other settings from while it runs. Null: the settings never change. */
  renewable?: Renewable | null
  manager?: ServiceManager | null
  display?: Display | null
  onStarted?: () => void
}

/** The daemon from start to end. Claims state folder and roots, then runs one session after another, for each config, key and try
 * of the state. Throws what `claimWhenFree` and `runSession` throw, except for a state that may work later. */
export async function supervise(
  config: Config,
  access: Access,
  bus: Bus,
  interruption: Interruption,
  { renewable = null, manager = null, display = null, onStarted }: Surroundings = {},
): Promise<void> {
  const files = stateFiles(config.state_dir)
  const { stop } = interruption
  const claim = await claimWhenFree(config, { stop, say: bus.say }).catch(error => {
    if (!stop.aborted) throw error
    return null
  })
  if (claim === null) return
  onStarted?.()
  const queue = new CommandQueue()
  const settings = new CurrentSettings(
    { config, access },
    { roots: claim.roots, queue, from: renewable, note: bus.note, manager },
  )
  let problem: Alert | null = null
  let closeControl = await openControl(files.control, queue, bus)
  await display?.open({
    config: () => settings.current.config,
    configFile: renewable?.file ?? null,
    queue,
    problem: () => problem,
  })
  const ending = new AbortController()
  const notifier = new Notifier({ notify: config.notify, clock: systemClock, note: bus.note })
  const onUpload = new UploadCommand(bus.note, ending.signal, true)
  const notifying = notifier.run(ending.signal)
  const onStop = () => manager?.stopping()
  interruption.stop.addEventListener('abort', onStop)

  const noteProblem = (alert: Alert | null) => {
    problem = alert
  }
  const services: Services = { bus, queue, notifier, onUpload, manager, noteProblem }
  const tellProblem = (alert: Alert | null) => {
    noteProblem(alert)
    if (alert) notifier.lookAt(() => ({ alerts: [alert], oldestUnsyncedMs: 0 }), null)
    // Even a daemon that waits for its state has started. Otherwise the service manager would end it.
    manager?.ready()
    if (alert) bus.say(alert.message)
    else bus.note({ event: 'albumd_works_again' })
  }
  /** Claims the state folder anew where somebody has put another one in its place. */
  const renewFolder = async () => {
    if (!claim.renew()) return
    await closeControl()
    closeControl = await openControl(files.control, queue, bus)
    await display?.folderRenewed()
  }
  const attempt = async (allIsWell: () => void, works: () => void) => {
    manager?.alive()
    await renewFolder()
    // The first event of a pass shows that the state works. The end of a first pass may be days away.
    const ends = [bus.on('passEnded', allIsWell), bus.on('pass', works)]
    try {
      // Each turn is one session. It ends when the daemon has taken another config or key.
      while (!interruption.stop.aborted) {
        const stop = AbortSignal.any([interruption.stop, settings.begin()])
        await runSession(settings, claim, services, { ...interruption, stop })
      }
    } catch (error) {
      if (error instanceof StateError) queue.close(new Refused(error.code, error.message))
      throw error
    } finally {
      for (const end of ends) end()
    }
  }
  try {
    const asked = () => AbortSignal.any([queue.asked, settings.renewed])
    await keepTrying(attempt, tellProblem, systemClock, interruption.stop, asked)
  } finally {
    queue.close(ENDED)
    await settings.close()
    ending.abort()
    await Promise.all([notifying, onUpload.end()])
    await display?.close()
    await closeControl()
    claim.release()
    interruption.stop.removeEventListener('abort', onStop)
    await manager?.settled()
  }
}

interface Services {
  bus: Bus
  queue: CommandQueue
  notifier: Notifier
  onUpload: UploadCommand
  manager: ServiceManager | null
  /** Shows what keeps the session from its work; null: nothing does. */
  noteProblem(alert: Alert | null): void
}

/** The daemon waits out outages. After four failures it probes the host at least every five minutes. */
const PATIENCE = { attempts: 4, maxDelayMs: 300_000 }

/** Works with one config until it is interrupted. Throws what `openClaimed` throws, and StateError. */
async function runSession(
  { current: { config, access }, record }: CurrentSettings,
  claim: Claim,
  { bus, queue, notifier, onUpload, manager, noteProblem }: Services,
  interruption: Interruption,
): Promise<void> {
  const state = openClaimed(config, claim, bus.say)
  const { synced, running } = state
  const lossEnds = lossEndsAt(synced, config.host.credential_lifetime, systemClock)
  if (lossEnds !== null) bus.say(inWords(because('sent_before_loss', { until: lossEnds })))
  const isNews = newsFilter()
  const ends = [
    bus.on('pass', emitted => {
      if (isNews(emitted)) bus.publish('news', emitted)
    }),
    onUpload.listen(bus, config.notify.on_upload, synced),
    ...(manager ? [bus.on('alive', () => manager.alive())] : []),
    ...watchHealth(bus, notifier, config, synced, systemClock),
    bus.on('pass', queue.emit),
  ]
  let engine: Engine | null = null
  let shared: SharedAccount | null = null
  let held: OpenClaims | null = null
  try {
    manager?.ready()
    shared = await openSharedAccount(config, access, synced)
    const { grace: graceMs, grace_many: graceManyMs } = config.deletions
    await synced.commit(tx => {
      givenGrace(tx, { running: running(), graceMs, graceManyMs })
      tx.meta.set('config', fingerprintOf(config))
      record(tx)
    })
    const say = (line: string, code: string) => {
      bus.say(line)
      noteProblem(waitsAlert(code, line))
    }
    held = shared && (await openClaims(config, shared, synced, interruption, { bus, say }))
    if (held) {
      noteProblem(null)
      interruption = held.interruption
    }
    const claims = held?.claims ?? null
    engine = openEngine(config, access, state, { patience: PATIENCE, isDaemon: true, shared, claims }, bus)
    const loop = new Loop({
      config,
      engine,
      interruption,
      synced,
      clock: systemClock,
      running,
      credentialLifetimeMs: config.host.credential_lifetime,
      // The next time is not recorded, because a daemon scans everything when it starts.
      rescan: cronSchedule(config.watch.rescan),
      audit: auditBySchedule(config, engine),
      queue,
      bus,
      ...(manager && { aliveEveryMs: manager.signEveryMs }),
    })
    queue.open({ config, synced, engine, interruption, loop: loop.forCommands, failed: state.failed })
    await loop.run()
    held?.throwWhereLost()
  } catch (error) {
    throw state.failed(error)
  } finally {
    for (const end of ends) end()
    queue.leave()
    let sent: EarlierRequests | undefined
    try {
      sent = await engine?.close()
      await held?.claims.close()
      await shared?.close()
    } finally {
      state.close(sent)
    }
  }
}

/** Errors that may pass. A damaged state is set aside when it is opened again. */
const PASSING: ReadonlySet<string> = new Set([
  'STORE_AWAY',
  'STATE_COPIED',
  'STATE_FULL',
  'STATE_BUSY',
  'STATE_UNWRITABLE',
  'STATE_DAMAGED',
  'STATE_REPLACED',
])
/** Errors that may pass only once the state has worked: then a disk fails. At the start they mean a wrong config. */
const PASSING_LATER: ReadonlySet<string> = new Set(['STATE_UNREADABLE'])

const FIRST_MS = 1000
const LAST_MS = 60_000

/** Does `work` again while the state fails and may work later, with pauses from a second to a minute. `work` calls `works` once
 * the state is in use, and `allIsWell` after a pass. `tell` is called once per error, and with null when it is over. `asked`: a
 * signal that ends the pause. Throws every other error. */
export async function keepTrying(
  work: (allIsWell: () => void, works: () => void) => Promise<void>,
  tell: (problem: Alert | null) => void,
  clock: Clock,
  stop: AbortSignal,
  asked: () => AbortSignal = () => stop,
): Promise<void> {
  let waitMs = FIRST_MS
  let said: string | null = null
  let worked = false
  const works = () => {
    worked = true
  }
  const allIsWell = () => {
    if (said !== null) tell(null)
    works()
    said = null
    waitMs = FIRST_MS
  }
  for (;;) {
    try {
      return await work(allIsWell, works)
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      if (!PASSING.has(error.code) && !(worked && PASSING_LATER.has(error.code))) throw error
      const message = `${error.message}; albumd tries again by itself`
      if (said !== error.message) tell(waitsAlert(error.code, message))
      said = error.message
    }
    if (!stop.aborted) await clock.sleep(waitMs, AbortSignal.any([stop, asked()]))
    if (stop.aborted) return
    waitMs = Math.min(waitMs * 2, LAST_MS)
  }
}
