import type { Config } from '../../config/schema.ts'
import type { EngineContext } from '../../sync/context.ts'
import type { Bus, DaemonEvent } from '../events.ts'
import { audit } from './audit.ts'
import type { Mirroring } from './mirroring.ts'
import { CronSchedule, type KeptSlot, type Recurring, slotInMemory } from './schedule.ts'
import { ScheduledAudit } from './scheduled-audit.ts'

/** How many findings are told one by one; `albumd audit` has them all. */
const FINDINGS_TOLD = 100

/** `watch.rescan`. A daemon looks at everything when it starts, whatever was missed before. */
export function rescans({ watch }: Config): Recurring {
  return new CronSchedule(watch.rescan, slotInMemory())
}

/** `watch.audit`. Null: never. */
export function audits(
  config: Config,
  mirroring: Pick<Mirroring, 'pass'> & { readonly parts: EngineContext },
  note: Bus['note'],
): ScheduledAudit | null {
  if (config.watch.audit === null) return null
  const { clock, synced } = mirroring.parts
  const { meta } = synced
  const kept: KeptSlot = {
    get: () => (meta.get('audit_slot') === null ? null : Number(meta.get('audit_slot'))),
    set: slot => synced.commitNow(tx => tx.meta.set('audit_slot', String(slot))),
  }
  return new ScheduledAudit({
    clock,
    schedule: new CronSchedule(config.watch.audit, kept),
    audit: (interruption, progress) => audit(config, mirroring, false, interruption, progress),
    onEnd({ albums, findings, skipped }) {
      for (const { kind, album, name, detail } of findings.slice(0, FINDINGS_TOLD))
        note({ event: 'audit_found', kind, album, name, detail } satisfies DaemonEvent)
      note({ event: 'audit_finished', albums, findings: findings.length, skipped: skipped.length })
    },
    onFailure: ({ code, message }) => note({ event: 'audit_waits', code, message }),
  })
}
