import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { SharedAccount } from '../../shared/account.ts'
import { AlbumClaims, AlbumTaken, StoreAway } from '../../shared/claims.ts'
import { mayArriveFor, noteOthersWork } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { StateError } from '../../synced/state-error.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Bus } from '../events.ts'
import { openMachine, ownAlbums } from '../state/machine.ts'

type SharedSays = ConstructorParameters<typeof AlbumClaims>[0]['say']

export type OpenClaims = Awaited<ReturnType<typeof openClaims>>

/** The id of this run of the program. A copy of the state or of the machine runs with another one. */
const PROCESS = randomUUID()

/** Claims the mirrors' albums. `take`: the machines that have them are gone for good. Throws AlbumTaken. Throws StateError where
 * the store is away, and beside a copy of this state. */
export async function openClaims(
  config: Config,
  shared: SharedAccount,
  { meta, commit }: Synced,
  interruption: Interruption,
  { take = false, bus, say }: { take?: boolean; bus?: Bus; say: SharedSays },
) {
  const ended = new AbortController()
  let lost: AlbumTaken | null = null
  const { albums } = ownAlbums(config.mirrors)
  const noteTaken = ({ reason }: AlbumTaken) => commit(tx => tx.meta.set('album_taken', reason))
  const claims = new AlbumClaims({
    store: shared.store,
    clock: systemClock,
    machine: openMachine(config),
    albums,
    process: PROCESS,
    mayArriveMs: mayArriveFor(config.host.credential_lifetime),
    onDoubt(why) {
      if (meta.get('claim_doubt') === why) return
      // A failure is ignored: when the state has failed, the pass fails too.
      commit(tx => (why ? tx.meta.set('claim_doubt', why) : tx.meta.clear('claim_doubt'))).catch(() => {})
      if (why === null) bus?.publish('doubtEnded', undefined)
    },
    onLost(error) {
      lost = error
      // A failure is ignored: when the state has failed, the pass fails too.
      noteTaken(error).catch(() => {})
      shared.tellAlbums([])
      ended.abort()
    },
    say,
  })
  try {
    await claims.open(interruption.stop, take)
    if (!interruption.stop.aborted) shared.tellAlbums(albums)
    // Another machine has worked with the albums, so the records may be older than what the albums hold.
    if (take || meta.get('album_taken') !== null)
      await commit(tx => {
        tx.meta.clear('album_taken')
        noteOthersWork(tx)
      })
  } catch (error) {
    if (error instanceof AlbumTaken) await noteTaken(error)
    throw ofState(error)
  }
  const both = (signal: AbortSignal) => AbortSignal.any([signal, ended.signal])
  return {
    claims,
    /** The given interruption, ended also when another machine gets the albums. */
    interruption: { ...interruption, stop: both(interruption.stop), cut: both(interruption.cut) },
    throwWhereLost() {
      if (lost) throw ofState(lost)
    },
  }
}

/** Turns errors that may pass by themselves into errors of the state. Returns other errors as they are. */
function ofState(error: unknown): unknown {
  const mayPass = error instanceof StoreAway || (error instanceof AlbumTaken && error.code === 'STATE_COPIED')
  return mayPass ? new StateError(error.code, error.message) : error
}
