import type { StoreAccess } from '../../config/host-access.ts'
import { systemClock } from '../../protocol/clock.ts'
import { inWords } from '../../words/reasons.ts'
import type { Status } from '../report/status.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** How long the store may take to answer, connection included. */
const PATIENCE_MS = 3000
const LOOK_MS = 50

/** The store that the machines share: as a running daemon tells, or else as it answers now. `access` null: there is none. */
export async function* checkStore(
  access: StoreAccess | null,
  status: Pick<Status, 'store' | 'machines'> | null,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  if (access === null) return
  if (!status?.store) return yield await askStore(access, signal)
  const { store, machines } = status
  const names = machines.map(({ name }) => name).join(', ')
  if (store.away === null) yield pass('store', `account.shared answers; machines on the account: ${names}`)
  else
    yield warn(
      'store',
      `account.shared: ${store.away.message}`,
      'Until it answers, uploads go on at account.when_away of the rate, and deletions wait',
    )
}

/** Asks the store for nothing but an answer. */
async function askStore(access: StoreAccess, signal: AbortSignal): Promise<Finding> {
  const { openRedis } = await import('../../shared/redis-store.ts')
  const { script } = await import('../../shared/store.ts')
  const store = openRedis({ ...access, prefix: '', name: 'albumd', now: systemClock.monotonic })
  const end = systemClock.monotonic() + PATIENCE_MS
  try {
    for (;;) {
      const answer = await store.run(script('return 1'), [], [])
      if (answer.ok) return pass('store', 'account.shared answers')
      if (signal.aborted || systemClock.monotonic() > end)
        return fail('store', `account.shared: ${inWords(answer.away.reason)}`)
      await systemClock.sleep(LOOK_MS, signal)
    }
  } finally {
    await store.close()
  }
}
