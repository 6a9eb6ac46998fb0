import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import { RateWindow } from '../gate/rate-window.ts'
import { openRequestQueue, type RequestQueue } from '../gate/request-queue.ts'
import { Trouble } from '../gate/trouble.ts'

/**
 * Where the starts of requests are kept over restarts: milliseconds of the gate's clock, so the caller minds
 * reboots. It is asked once, and told each start just before the request leaves.
 */
export interface RateLedger {
  load(endpoint: Endpoint): number[]
  record(endpoint: Endpoint, start: number): void
}

/**
 * How passing trouble is waited out: so many failures in a row, and at most so long between two. After those many it
 * lasts: then a request goes only so often, and the others are answered at once with what it was told.
 */
export interface Patience {
  attempts: number
  maxDelayMs: number
}

export interface LanesOptions {
  requestsPerSecond: Readonly<Record<Endpoint, number>>
  /** Requests to one endpoint at a time. */
  concurrency: number
  patience: Patience
  /** From 0 to 1. */
  random(): number
  ledger: RateLedger
}

/** What the requests to one endpoint go through. */
export interface Lane {
  endpoint: Endpoint
  queue: RequestQueue
  window: RateWindow
  /** Its own. */
  trouble: Trouble
  /** That of the whole host, where the endpoint is one of its own. */
  away: Trouble | null
  /** Whose trouble its requests wait out. */
  heeds: readonly Trouble[]
}

/** Reads the ledger. */
export function openLanes(options: LanesOptions): ReadonlyMap<Endpoint, Lane> {
  const { requestsPerSecond, concurrency, patience, random, ledger } = options
  const troubleOf = () => new Trouble({ random, ...patience })
  const troubles = new Map(ENDPOINTS.map(endpoint => [endpoint, troubleOf()]))
  const host = troubleOf()
  const laneOf = (endpoint: Endpoint): Lane => {
    const trouble = troubles.get(endpoint)!
    // Upload nodes are other machines, and may be there where the host is not.
    const away = endpoint === 'send' ? null : host
    const own = away ? [trouble, away] : [trouble]
    return {
      endpoint,
      queue: openRequestQueue(concurrency, requestsPerSecond[endpoint]),
      window: new RateWindow(requestsPerSecond[endpoint], ledger.load(endpoint)),
      trouble,
      away,
      // A credential costs quota and lasts ten minutes (§8): none is asked for while nodes take no pictures.
      heeds: endpoint === 'upload' ? [...own, troubles.get('send')!] : own,
    }
  }
  return new Map(ENDPOINTS.map(endpoint => [endpoint, laneOf(endpoint)]))
}
