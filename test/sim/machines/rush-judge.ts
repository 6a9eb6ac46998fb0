import type { Violation } from '../judges/oracle.ts'
import { CALM_MS, RUSHED, type Rush, type Rushed } from './rush-history.ts'
import type { StoreFault } from './virtual-store.ts'

/** A request that arrived at the host, in milliseconds from the beginning. */
export interface Arrival {
  at: number
  machine: string
  endpoint: Rushed
  isAnswered: boolean
}

const SECOND_MS = 1000
/** So long after the store is lost, a machine has noticed and keeps to its part. */
const NOTICED_MS = 1600
/** A machine that was dead, or that was cut off, has given its part back so long after. */
const BACK_MS = 10_000
const LOST_FOR_ALL: ReadonlySet<StoreFault> = new Set<StoreFault>(['away', 'slow', 'readOnly'])

/** What several machines sent together, judged by the limits of the host. `arrivals`: in the order of time. */
export function judgeRates(rush: Rush, arrivals: readonly Arrival[]): Violation | null {
  for (const endpoint of RUSHED) {
    const all = arrivals.filter(each => each.endpoint === endpoint)
    const limit = rush.limits[endpoint]
    const what = tooMany(all, limit) ?? moreThanParts(rush, all, limit) ?? tooFew(rush, all, limit)
    if (what) return { invariant: 'sum-of-rates', what: `${endpoint}, ${limit} a second: ${what}` }
  }
  return null
}

/** In no second, wherever it begins, do more requests arrive than the host permits. */
function tooMany(all: readonly Arrival[], limit: number): string | null {
  for (let at = limit; at < all.length; at++) {
    const [first, last] = [all[at - limit]!, all[at]!]
    if (last.at - first.at >= SECOND_MS) continue
    const machines = all.slice(at - limit, at + 1).map(({ machine }) => machine)
    return `${limit + 1} arrived from ${first.at} to ${last.at} ms (${machines.join(', ')})`
  }
  return null
}

/** Without the store, each machine keeps to its part. */
function moreThanParts({ troubles, share }: Rush, all: readonly Arrival[], limit: number): string | null {
  const part = Math.max(1, Math.floor(limit * share))
  for (const { at, forMs, kind, machine } of troubles) {
    if (!LOST_FOR_ALL.has(kind) && kind !== 'one' && kind !== 'deaf') continue
    const within = all.filter(each => each.at > at + NOTICED_MS && each.at < at + forMs)
    for (const each of new Set(within.map(({ machine }) => machine))) {
      if (!LOST_FOR_ALL.has(kind) && each !== machine) continue
      const what = tooMany(
        within.filter(({ machine }) => machine === each),
        part,
      )
      if (what) return `without the store, with a part of ${part}: ${what}`
    }
  }
  return null
}

/** When nothing goes wrong any more, the machines that live use nearly the whole rate. */
function tooFew(
  { lasts, idle, ends, machines, workers }: Rush,
  all: readonly Arrival[],
  limit: number,
): string | null {
  const living = machines.filter(
    name => !ends.some(({ machine, againAt }) => machine === name && againAt === null),
  )
  if (idle > 0 || living.length === 0) return null
  const from = lasts - CALM_MS + BACK_MS
  const calm = all.filter(({ at }) => at >= from && at < lasts)
  // A request without an answer may arrive for a second more, and so takes its place for two seconds.
  const sent = calm.length + calm.filter(({ isAnswered }) => !isAnswered).length
  // A machine sends one request after another with each of its workers. Few requests take as long as a third of a second.
  const could = Math.min(limit, living.length * workers * 3)
  const expected = (could * (lasts - from)) / SECOND_MS
  return sent < 0.8 * expected ? `${calm.length} arrived from ${from} ms on, of ${expected}` : null
}
