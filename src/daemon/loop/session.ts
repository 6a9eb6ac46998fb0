import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { inWords } from '../../words/reasons.ts'
import { audit } from '../commands/audit.ts'
import type { CommandQueue } from '../commands/queue.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { type Bus, newsFilter } from '../events.ts'
import { type Notifier, watchHealth } from '../notify/notifier.ts'
import { reportTo, type ServiceManager } from '../notify/service-manager.ts'
import type { UploadCommand } from '../notify/upload-command.ts'
import { type Claim, fingerprintOf } from '../state/claim.ts'
import { openClaimed } from '../state/state.ts'
import { Loop } from './loop.ts'
import { CronSchedule, type KeptSlot, ScheduledAudit } from './schedule.ts'
import type { Settings } from './settings.ts'

/** What the supervisor keeps open from session to session. */
export interface Services {
  bus: Bus
  queue: CommandQueue
  notifier: Notifier
  onUpload: UploadCommand
  manager: ServiceManager | null
}

/** The daemon waits out an outage. */
const PATIENCE = { attempts: 4, maxDelayMs: 300_000 }

/**
 * Everything that is open for one config, from opening the state to closing it: state, engine, loop, and whoever reads
 * the state. Ends when interrupted. Throws what `openClaimed` throws, and StateError where the state fails.
 */
export async function runSession(
  { config, access }: Settings,
  claim: Claim,
  { bus, queue, notifier, onUpload, manager }: Services,
  interruption: Interruption,
): Promise<void> {
  const state = openClaimed(config, claim, bus.say)
  const { synced, running } = state
  const isNews = newsFilter()
  const ends = [
    bus.on('pass', told => {
      if (isNews(told)) bus.publish('news', told)
    }),
    onUpload.listen(bus, config.notify.on_upload, synced),
    manager ? reportTo(manager, bus, config, synced, systemClock) : () => {},
    watchHealth(bus, notifier, config, synced, systemClock),
    bus.on('pass', queue.tell),
  ]
  let engine: Engine | null = null
  try {
    manager?.ready()
    await synced.commit(tx => tx.meta.set('config', fingerprintOf(config)))
    engine = openEngine(config, access, state, { patience: PATIENCE, graceMs: config.deletions.grace }, bus)
    const loop = new Loop({
      config,
      engine,
      interruption,
      synced,
      clock: systemClock,
      running,
      credentialLifetimeMs: config.host.credential_lifetime,
      // The next time is kept in memory alone, because a daemon scans everything when it starts.
      rescan: new CronSchedule(config.watch.rescan),
      audit: audits(config, engine, bus.note),
      queue,
      bus,
      ...(manager && { aliveEveryMs: manager.signEveryMs }),
    })
    queue.open({ config, synced, engine, interruption, loop: loop.forCommands, failed: state.failed })
    await loop.run()
  } catch (error) {
    throw state.failed(error)
  } finally {
    await engine?.close()
    for (const end of ends) end()
    manager?.forget()
    queue.leave()
    state.close()
  }
}

/** How many findings are published one by one. `albumd audit` shows all of them. */
const FINDINGS_TOLD = 100

/** `watch.audit`. The next time is recorded, so an audit that was missed while albumd did not run is made up for. */
function audits(config: Config, engine: Engine, note: Bus['note']): ScheduledAudit | null {
  if (config.watch.audit === null) return null
  const { clock, synced } = engine.context
  const kept: KeptSlot = {
    get: () => synced.meta.get('audit_slot'),
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
