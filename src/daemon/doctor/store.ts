import type { StoreAccess } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import { inWords } from '../../words/reasons.ts'
import type { Status } from '../report/status.ts'
import { machineIdOf, ownAlbums } from '../state/machine.ts'
import { type Finding, fail, pass } from './finding.ts'

/** How long the store may take to answer, connection included. */
const PATIENCE_MS = 3000
const LOOK_MS = 50

/** The store that the machines share: as a running daemon says, or else as it answers now. */
export async function* checkStore(
  config: Config,
  access: { store: StoreAccess | null | undefined; key: string | null },
  status: Pick<Status, 'store' | 'machines'> | null,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  if (!access.store) return
  if (!status?.store) return yield* askStore(config, access.store, access.key, signal)
  const { store, machines } = status
  const names = machines.map(({ name }) => name).join(', ')
  if (store.away === null) yield pass('store', `account.shared answers; machines on the account: ${names}`)
}

/** Whether the store answers, and whether another machine has an album of this one. `key`: the account's, or null. */
async function* askStore(
  config: Config,
  access: StoreAccess,
  key: string | null,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const { openRedis } = await import('../../shared/redis-store.ts')
  const { keyPrefix, script } = await import('../../shared/store.ts')
  const { lookForOwner } = await import('../../shared/claims.ts')
  const prefix = key === null ? '' : keyPrefix(config.host.base_url, key)
  const store = openRedis({ ...access, prefix, name: 'albumd', now: systemClock.monotonic })
  const end = systemClock.monotonic() + PATIENCE_MS
  try {
    for (;;) {
      const answer = await store.run(script('return 1'), [], [])
      if (answer.ok) break
      if (signal.aborted || systemClock.monotonic() > end)
        return yield fail('store', `account.shared: ${inWords(answer.away.reason)}`)
      await systemClock.sleep(LOOK_MS, signal)
    }
    yield pass('store', 'account.shared answers')
    if (key === null) return
    const { albums } = ownAlbums(config.mirrors)
    const taken = await lookForOwner(store, machineIdOf(config) ?? '', albums, systemClock.wall())
    if (taken) yield { ...fail('album', inWords(taken)), code: 'LOCKED' }
  } finally {
    await store.close()
  }
}
