import type { Config } from '../config/schema.ts'
import { systemClock } from '../sync/clock.ts'
import type { Interruption } from '../sync/interruption.ts'
import type { Tell } from '../sync/pass-events.ts'
import type { Synced } from '../synced/synced.ts'
import { Daemon } from './daemon.ts'
import { keepTrying } from './keep-trying.ts'
import { type Access, openMirroring } from './mirroring.ts'
import { claimState, openClaimed, type State, stateFiles } from './state.ts'
import { beginTroubleNote } from './trouble-note.ts'

export interface Listener {
  tell: Tell
  /** Something that a person should know, in a line. */
  say: (line: string) => void
  /** After each pass that has tried all of its uploads. */
  onPass: (synced: Synced) => void
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
): Promise<void> {
  const { say } = listener
  const claim = await claimState(config)
  const note = beginTroubleNote(stateFiles(config.state_dir).trouble)
  try {
    const work = async (allIsWell: () => void) => {
      const state = openClaimed(config, claim, say)
      try {
        const onPass = (synced: Synced) => {
          allIsWell()
          listener.onPass(synced)
        }
        await runDaemon(config, access, state, { ...listener, onPass }, interruption)
      } catch (error) {
        throw state.failed(error)
      } finally {
        state.close()
      }
    }
    const tellTrouble = (line: string | null) => {
      note.write(line)
      say(line ?? 'the state works again; albumd goes on')
    }
    await keepTrying(work, tellTrouble, systemClock, interruption.stop)
  } finally {
    note.remove()
    claim.release()
  }
}

async function runDaemon(
  config: Config,
  access: Access,
  state: State,
  { tell, say, onPass }: Listener,
  interruption: Interruption,
): Promise<void> {
  const { synced, running } = state
  const temper = { patience: { attempts: 4, maxDelayMs: 10_000 }, graceMs: config.deletions.grace }
  const daemon = new Daemon({
    config,
    synced,
    clock: systemClock,
    running,
    credentialLifetimeMs: config.host.credential_lifetime,
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
}
