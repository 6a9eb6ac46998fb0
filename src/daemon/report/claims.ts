import type { Config } from '../../config/schema.ts'
import { ALONE, type Claims } from '../../sync/claims.ts'
import type { MetaReads } from '../../synced/synced.ts'
import { ownAlbums } from '../state/machine.ts'

/** This machine's claims, as config and records tell, for processes that only show them. `running`: whether a daemon runs. */
export function claimsInRecords(
  { account, mirrors }: Pick<Config, 'account' | 'mirrors'>,
  { meta }: MetaReads,
  running: boolean,
): Pick<Claims, 'doubt' | 'isOwn'> {
  if (account.shared === undefined) return ALONE
  const { isOwn } = ownAlbums(mirrors)
  return { isOwn, doubt: () => (running ? meta.get('claim_doubt') : null) }
}
