import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../sync/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { inWords } from '../../words/reasons.ts'
import { audit } from '../commands/audit.ts'
import type { CommandQueue } from '../commands/queue.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { type Bus, newsFilter } from '../events.ts'
import { type Notifier, watchHealth } from '../notify/notifier.ts'
import { reportTo, type ServiceManager } from '../notify/service-manager.ts'
import type { UploadCommand } from '../notify/upload-command.ts'
import type { Claim } from '../state/claim.ts'
import { fingerprintOf } from '../state/claim.ts'
import { openClaimed, type State } from '../state/state.ts'
import { Loop } from './loop.ts'
import { CronSchedule, type KeptSlot, ScheduledAudit, slotInMemory } from './schedule.ts'
import type { Settings } from './settings.ts'

/** What the supervisor keeps open from session to session. */
export interface Services {
  bus: Bus
  queue: CommandQueue
  notifier: Notifier
  onUpload: UploadCommand
  manager: ServiceManager | null
}

/**
 * Everything that is open for one config, from opening the state to closing it: state, engine, loop, and whoever reads
 * the state. Ends when interrupted, or when `replaced` says that another config was taken. `onOpen` is called when the
 * state is open and belongs to this config. Throws what `openClaimed` throws, and StateError where the state fails.
 */
export async function runSession(
  { replaced, ...settings }: Settings & { replaced: AbortSignal },
  claim: Claim,
  services: Services,
  interruption: Interruption,
  onOpen: () => void,
): Promise<void> {
  const { bus, queue, manager } = services
  const state = openClaimed(settings.config, claim, bus.say)
  try {
    onOpen()
    const stop = AbortSignal.any([interruption.stop, replaced])
    const unsubscribe = subscribe(services, settings.config, state)
    try {
      await work(settings, state, services, { ...interruption, stop })
    } finally {
      unsubscribe()
    }
  } catch (error) {
    throw state.failed(error)
  } finally {
    manager?.forget()
    queue.leave()
    state.close()
  }
}

function subscribe({ bus, queue, notifier, onUpload, manager }: Services, config: Config, { synced }: State) {
  const ends = [
    onUpload.listen(bus, config.notify.on_upload, synced),
    manager ? reportTo(manager, bus, config, synced, systemClock) : () => {},
    watchHealth(bus, notifier, config, synced, systemClock),
    bus.on('pass', queue.tell),
  ]
  return () => {
    for (const end of ends) end()
  }
}

async function work(
  { config, access }: Settings,
  state: State,
  { bus, queue, manager }: Services,
  interruption: Interruption,
): Promise<void> {
  const { synced, running } = state
  manager?.ready()
  await synced.commit(tx => tx.meta.set('config', fingerprintOf(config)))
  const isNews = newsFilter()
  const alive = () => bus.alive()
  const tell = (told: SpokenEvent) => {
    alive()
    if (isNews(told)) bus.publish('news', told)
    bus.publish('pass', told)
  }
  const engine = openEngine(
    config,
    access,
    state,
    { patience: { attempts: 4, maxDelayMs: 300_000 }, graceMs: config.deletions.grace },
    tell,
    {
      requested: request => bus.publish('request', request),
      sending: sending => bus.publish('sending', sending),
      alive,
    },
  )
  const loop = new Loop({
    config,
    engine,
    interruption,
    synced,
    clock: systemClock,
    running,
    credentialLifetimeMs: config.host.credential_lifetime,
    // The next time is kept in memory alone, because a daemon scans everything when it starts.
    rescan: new CronSchedule(config.watch.rescan, slotInMemory()),
    audit: audits(config, engine, bus.note),
    queue,
    bus,
    ...(manager && { aliveEveryMs: manager.signEveryMs }),
  })
  queue.open({ config, synced, engine, interruption, loop: loop.forCommands, failed: state.failed })
  try {
    await loop.run()
  } finally {
    await engine.close()
  }
}

/** How many findings are published one by one. `albumd audit` shows all of them. */
const FINDINGS_TOLD = 100

/** `watch.audit`. The next time is recorded, so an audit that was missed while albumd did not run is made up for. */
function audits(config: Config, engine: Engine, note: Bus['note']): ScheduledAudit | null {
  if (config.watch.audit === null) return null
  const { clock, synced } = engine.context
  const { meta } = synced
  const kept: KeptSlot = {
    get: () => meta.get('audit_slot'),
    set: slot => synced.commitNow(tx => tx.meta.set('audit_slot', slot)),
  }
  return new ScheduledAudit({
    clock,
    schedule: new CronSchedule(config.watch.audit, kept),
    audit: (interruption, progress) => audit(config, engine, false, interruption, progress),
    onEnd({ albums, findings, skipped }) {
      for (const { kind, album, name, detail } of findings.slice(0, FINDINGS_TOLD))
        note({ event: 'audit_found', kind, album, name, detail })
      note({ event: 'audit_finished', albums, findings: findings.length, skipped: skipped.length })
    },
    onFailure: ({ code, message }) => note({ event: 'audit_waits', code, message: inWords(message) }),
  })
}
