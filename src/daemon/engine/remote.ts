import type { StoreAccess } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import { openImageHost, type RemoteOptions } from '../../remote/client.ts'
import type { EarlierRequests } from '../../remote/gate/rate-window.ts'
import { hostWith, type ImageHost } from '../../remote/host.ts'
import type { SharedAccount } from '../../shared/account.ts'
import { readQuota } from '../../sync/quota/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { allowanceOf } from '../report/quota-status.ts'
import { openMachine } from '../state/machine.ts'

/** What albumd needs to use the account and the store. `ca`: PEM, or null for the authorities that Node knows. */
export interface Access {
  apiKey: string
  ca: string | null
  /** Null: the config names no store that machines share. */
  store: StoreAccess | null
}

export function secretsOf({ apiKey, store }: Access): string[] {
  return store?.password ? [apiKey, store.password] : [apiKey]
}

export async function openSharedAccount(
  config: Config,
  { apiKey, store }: Access,
  synced: Synced,
): Promise<SharedAccount | null> {
  if (!store) return null
  const { openShared } = await import('../../shared/account.ts')
  const { when_away: share } = config.account
  const machine = openMachine(config)
  const clock = systemClock
  const { began } = readQuota(synced, allowanceOf(config), clock.wall())
  const usedToday = synced.account.quota(new Date(began).toISOString()).used
  return openShared({ ...store, machine, share, usedToday, baseUrl: config.host.base_url, apiKey, clock })
}

export type RemoteSettings = Pick<
  Config['host'],
  'base_url' | 'site_url' | 'upload_form' | 'timeout' | 'credential_lifetime' | 'requests_per_second'
>

/** Opens the host without sending anything. `earlier`: see `earlierRequests`. `windowOf`: of a rate that machines share. */
export function openRemote(
  host: RemoteSettings,
  { apiKey, ca }: Access,
  earlier: EarlierRequests,
  windowOf: RemoteOptions['windowOf'],
  more: Pick<RemoteOptions, 'concurrency' | 'patience'> & Partial<RemoteOptions>,
): ReturnType<typeof openImageHost> {
  return openImageHost({
    baseUrl: host.base_url,
    siteUrl: host.site_url,
    apiKey,
    uploadForm: host.upload_form,
    ...(ca !== null && { ca }),
    timeoutMs: host.timeout,
    credentialLifetimeMs: host.credential_lifetime,
    requestsPerSecond: host.requests_per_second,
    clock: systemClock,
    earlier,
    windowOf,
    ...more,
  })
}

/** Opens the host for a process that is no machine of the account, such as the doctor, but keeps to their shared rates. */
export async function openHostToAsk(
  { host, account }: { host: RemoteSettings; account: { when_away: number } },
  access: Access,
  earlier: EarlierRequests,
  more: Parameters<typeof openRemote>[4],
): Promise<ImageHost> {
  const { store, apiKey } = access
  if (!store) return openRemote(host, access, earlier, undefined, more)
  const { openGuest } = await import('../../shared/account.ts')
  const { when_away: share } = account
  const guest = openGuest({ ...store, share, baseUrl: host.base_url, apiKey, clock: systemClock })
  const remote = openRemote(host, access, earlier, guest.windowOf, more)
  return hostWith(remote, {
    async close() {
      try {
        return await remote.close()
      } finally {
        await guest.close()
      }
    },
  })
}
