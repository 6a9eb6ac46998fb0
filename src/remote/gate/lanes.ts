import Bottleneck from 'bottleneck'
import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import { Outage, type Patience } from './outage.ts'
import { RateWindow } from './rate-window.ts'

/**
 * Keeps the start times of requests across restarts, so that a new process does not exceed the rate together with the
 * process before it. `load` is called once for each endpoint; `record` is called just before a request leaves. Times are
 * milliseconds of the gate's clock. That clock begins anew with a reboot, which the implementation must allow for.
 */
export interface RateLedger {
  load(endpoint: Endpoint): number[]
  record(endpoint: Endpoint, start: number): void
}

export interface LanesOptions {
  requestsPerSecond: Readonly<Record<Endpoint, number>>
  /** How many requests to one endpoint may be under way at a time. */
  concurrency: number
  patience: Patience
  /** A number from 0 to 1. Left out: Math.random. */
  random?(): number
  /** Left out: starts of requests are not kept across restarts. */
  ledger?: RateLedger
}

/** What the requests to one endpoint share. */
export interface Lane {
  endpoint: Endpoint
  queue: RequestQueue
  window: RateWindow
  /** The outage of this endpoint. */
  outage: Outage
  /** The outage of the host as a whole. Null for `send`, because upload nodes are other machines than the host. */
  hostOutage: Outage | null
  /** The outages that requests of this lane wait out. */
  waitsOut: readonly Outage[]
}

/** One lane for each endpoint. Reads the ledger. */
export function openLanes(options: LanesOptions): ReadonlyMap<Endpoint, Lane> {
  const { requestsPerSecond, concurrency, patience, random = Math.random, ledger } = options
  const newOutage = () => new Outage({ random, ...patience })
  const outages = new Map(ENDPOINTS.map(endpoint => [endpoint, newOutage()]))
  const ofHost = newOutage()
  const laneOf = (endpoint: Endpoint): Lane => {
    const outage = outages.get(endpoint)!
    const hostOutage = endpoint === 'send' ? null : ofHost
    const own = hostOutage ? [outage, hostOutage] : [outage]
    return {
      endpoint,
      queue: openRequestQueue(concurrency, requestsPerSecond[endpoint]),
      window: new RateWindow(requestsPerSecond[endpoint], ledger?.load(endpoint)),
      outage,
      hostOutage,
      // A credential costs quota and expires after ten minutes (§8). While the upload nodes take no pictures, asking for
      // credentials would waste them.
      waitsOut: endpoint === 'upload' ? [...own, outages.get('send')!] : own,
    }
  }
  return new Map(ENDPOINTS.map(endpoint => [endpoint, laneOf(endpoint)]))
}

/** Runs requests to one endpoint, so many at a time, in the order in which they came. */
export interface RequestQueue {
  /** Runs `job` when its turn comes. Resolves to null when `signal` is aborted before that. */
  inTurn<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T | null>
}

/**
 * Bottleneck computes with the wall clock when its next job may start. When that clock is set back by an hour, the next
 * job would wait for an hour. With a negative infinite `minTime` the computed time is always in the past.
 */
const NO_MIN_TIME = Number.NEGATIVE_INFINITY

/**
 * An endpoint without a rate limit (the host of a benchmark) gets no queue: its callers are bounded already, and
 * Bottleneck's bookkeeping takes longer than such a request.
 */
export function openRequestQueue(places: number, requestsPerSecond: number): RequestQueue {
  if (requestsPerSecond === Number.POSITIVE_INFINITY)
    return { inTurn: async (job, signal) => (signal.aborted ? null : job()) }
  const queue = new Bottleneck({ maxConcurrent: places, minTime: NO_MIN_TIME })
  // `minTime` counts from the second job on: the first may start when the wall clock shows the time at which the queue was
  // made. This empty job is the first one.
  void queue.schedule(async () => {})
  return {
    async inTurn<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
      if (signal.aborted) return null
      // Bottleneck has no way to remove a queued job. The caller is answered at once, and the job does nothing when its
      // turn comes.
      const left = Promise.withResolvers<null>()
      const leave = () => left.resolve(null)
      signal.addEventListener('abort', leave, { once: true })
      const turn = queue.schedule(async () => {
        signal.removeEventListener('abort', leave)
        return signal.aborted ? null : job()
      })
      return Promise.race([left.promise, turn])
    },
  }
}
