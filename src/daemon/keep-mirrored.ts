import type { Config } from '../config/schema.ts'
import { systemClock } from '../sync/clock.ts'
import type { Interruption } from '../sync/interruption.ts'
import type { Tell } from '../sync/pass-events.ts'
import type { Synced } from '../synced/synced.ts'
import { Daemon } from './daemon.ts'
import { type Access, openMirroring } from './mirroring.ts'
import { openState } from './state.ts'

export interface Listener {
  tell: Tell
  /** Something that a person should know, in a line. */
  say: (line: string) => void
  /** After each pass that has tried all of its uploads. */
  onPass: (synced: Synced) => void
}

/** The daemon from its start to its end. Throws what openState throws. */
export async function keepMirrored(
  config: Config,
  access: Access,
  { tell, say, onPass }: Listener,
  interruption: Interruption,
): Promise<void> {
  const state = await openState(config)
  try {
    const { synced, running } = state
    const temper = { patience: { attempts: 4, maxDelayMs: 10_000 }, graceMs: config.deletions.grace }
    const daemon = new Daemon({
      config,
      synced,
      clock: systemClock,
      running,
      onPass: () => onPass(synced),
      say,
    })
    const mirroring = openMirroring(config, access, state, temper, told => {
      tell(told)
      daemon.hear(told)
    })
    try {
      await daemon.run(mirroring, interruption)
    } finally {
      await mirroring.close()
    }
  } finally {
    state.close()
  }
}
