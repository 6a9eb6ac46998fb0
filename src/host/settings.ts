import { DECISIONS } from '../protocol/decisions.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { CREDENTIAL_LIFETIME_MS, DAILY_QUOTA, type Plan, REQUESTS_PER_SECOND } from '../protocol/limits.ts'

/** What can be chosen about a host's behaviour. What is left out is as §8 and the plan have it. */
export interface HostChoices {
  /** The plan of every account. */
  plan: Plan
  /** The first plan that list, delete and create_album are open to (§1.6). */
  plansFrom?: Plan
  /** Images a day. */
  dailyQuota?: number
  /** Bytes. */
  maxFileSize?: number
  /** Bytes of an account in all. */
  storageLimit?: number
  credentialTtlMs?: number
  /** Infinity switches a limit off. */
  requestsPerSecond?: Partial<Record<Endpoint, number>>
  /** Uploads of one account, and of all, under way at once. */
  maxOpenUploads?: number
  maxOpenUploadsInAll?: number
}

export interface HostSettings extends Required<Omit<HostChoices, 'requestsPerSecond'>> {
  requestsPerSecond: Readonly<Record<Endpoint, number>>
}

export function settle(choices: HostChoices): HostSettings {
  return {
    plan: choices.plan,
    plansFrom: choices.plansFrom ?? DECISIONS.plansFrom,
    dailyQuota: choices.dailyQuota ?? DAILY_QUOTA[choices.plan],
    maxFileSize: choices.maxFileSize ?? DECISIONS.fileSizeMax[choices.plan],
    storageLimit: choices.storageLimit ?? DECISIONS.storageMax[choices.plan],
    credentialTtlMs: choices.credentialTtlMs ?? CREDENTIAL_LIFETIME_MS,
    requestsPerSecond: { ...REQUESTS_PER_SECOND, ...choices.requestsPerSecond },
    maxOpenUploads: choices.maxOpenUploads ?? DECISIONS.openUploadsMax,
    maxOpenUploadsInAll: choices.maxOpenUploadsInAll ?? DECISIONS.openUploadsInAllMax,
  }
}
