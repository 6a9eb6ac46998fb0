import { ConfigError } from '../../config/config-error.ts'
import { readStoreAccess } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import { inWords } from '../../words/reasons.ts'
import type { Status } from '../report/status.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** How long the store may take to answer, connection included. */
const PATIENCE_MS = 3000
const LOOK_MS = 50

/** The store that the machines share: as a running daemon tells, or else as it answers now. */
export async function* checkStore(
  config: Pick<Config, 'account'>,
  status: Pick<Status, 'store' | 'machines'> | null,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  if (config.account.shared === undefined) return
  if (!status?.store) return yield await askStore(config, env, signal)
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
async function askStore(
  config: Pick<Config, 'account'>,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Finding> {
  const { openRedis } = await import('../../shared/redis-store.ts')
  const { script } = await import('../../shared/store.ts')
  try {
    const access = readStoreAccess(config, env)!
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
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [{ key, message }] = error.problems as [ConfigError['problems'][number]]
    const wrong = fail('store', `${key}: ${message}`, 'Correct it, then run the doctor again')
    return { ...wrong, code: 'CONFIG' }
  }
}
