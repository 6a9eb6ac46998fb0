import { adoptDeed } from './adopt.ts'
import { auditDeed } from './audit.ts'
import type { Deed } from './deed.ts'
import { deletionsDeed } from './deletions.ts'
import { pauseDeed, resumeDeed } from './pause.ts'
import { retryDeed } from './retry.ts'
import { syncDeed } from './sync.ts'
import { trustDeed } from './trust.ts'

/** What a command can have done, by the daemon where one runs. */
export const deeds = {
  sync: syncDeed,
  retry: retryDeed,
  audit: auditDeed,
  adopt: adoptDeed,
  deletions: deletionsDeed,
  trust: trustDeed,
  pause: pauseDeed,
  resume: resumeDeed,
}

export type DeedName = keyof typeof deeds
export type RequestOf<N extends DeedName> = Parameters<(typeof deeds)[N]['carryOut']>[1]
export type ResultOf<N extends DeedName> = Awaited<ReturnType<(typeof deeds)[N]['carryOut']>>

/** A deed by its name, for whoever learns name and request from elsewhere. */
export function deedNamed(name: string): Deed<unknown, unknown> | null {
  return Object.hasOwn(deeds, name) ? (deeds[name as DeedName] as Deed<unknown, unknown>) : null
}
