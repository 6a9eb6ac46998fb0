import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/interruption.ts'
import type { PassEvent } from '../../sync/pass-events.ts'
import type { CommandQueue } from '../commands/queue.ts'
import { fingerprintOf } from '../control/protocol.ts'
import type { Listener } from '../listener.ts'
import { onlyNews } from '../report/only-news.ts'
import type { State } from '../state/state.ts'
import { Daemon } from './daemon.ts'
import { type Access, openMirroring } from './mirroring.ts'
import { audits, rescans } from './recurring.ts'

/** The daemon at work with one state and one config, until it is interrupted. Throws what the state throws. */
export async function runDaemon(
  config: Config,
  access: Access,
  state: State,
  queue: CommandQueue,
  { tell, say, onPass, note, alive = () => {}, aliveEveryMs, ...observer }: Listener,
  interruption: Interruption,
): Promise<void> {
  const { synced, running } = state
  await synced.commit(tx => tx.meta.set('config', fingerprintOf(config)))
  const temper = { patience: { attempts: 4, maxDelayMs: 300_000 }, graceMs: config.deletions.grace }
  const news = onlyNews(tell)
  const hear = (told: PassEvent) => {
    alive()
    news(told)
    daemon.hear(told)
    queue.tell(told)
  }
  const mirroring = openMirroring(config, access, state, temper, hear, { ...observer, alive })
  const daemon = new Daemon({
    config,
    synced,
    clock: systemClock,
    running,
    credentialLifetimeMs: config.host.credential_lifetime,
    rescan: rescans(config),
    audit: audits(config, mirroring, note),
    queue,
    onPass: () => onPass(synced),
    say,
    alive,
    ...(aliveEveryMs !== undefined && { aliveEveryMs }),
  })
  queue.open({ config, synced, engine: mirroring, interruption, failed: error => state.failed(error) })
  try {
    await daemon.run(mirroring, interruption)
  } finally {
    await mirroring.close()
  }
}
