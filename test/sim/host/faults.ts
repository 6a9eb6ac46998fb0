import type { Endpoint } from '../../../src/protocol/endpoints.ts'
import type { ErrorCode } from '../../../src/protocol/errors.ts'

/** What goes wrong with a request. unreached: nothing left. cut: a part of it left. lost: served, without an answer.
 * late: served after its sender gave up. never: it left and was not served, nobody says so. garbled: served, and the
 * answer is no answer of the interface. refused: the host says no. page: a proxy before the host refuses a picture, of which
 * so much has left. twice: a proxy sends the request twice, and passes the second answer on. closed: the host refuses all. */
export type Fault =
  | { kind: 'unreached' | 'cut' | 'lost' | 'late' | 'never' | 'garbled' | 'twice' }
  | { kind: 'refused'; code: ErrorCode }
  | { kind: 'page'; left: 'part' | 'all' }
  | { kind: 'closed'; status: number; code: string }

/** What the host says to all that it refuses for a while. */
export const CLOSED = 'Pictures are taken again tomorrow'

/** With which status and code it does so, by endpoint. None of these codes is of §7. */
const CLOSINGS: readonly { endpoint: Endpoint; status: number; code: string }[] = [
  ...(['upload', 'send'] as const).flatMap(endpoint => [
    { endpoint, status: 403, code: '' },
    { endpoint, status: 403, code: 'PLAN_EXPIRED_RESTRICTED' },
    { endpoint, status: 403, code: 'MAINTENANCE_SCHEDULED' },
    { endpoint, status: 400, code: 'TERMS_NOT_ACCEPTED' },
  ]),
  { endpoint: 'upload', status: 503, code: 'MAINTENANCE_SCHEDULED' },
]

const KINDS: readonly Fault[] = [
  { kind: 'lost' },
  { kind: 'late' },
  { kind: 'never' },
  { kind: 'garbled' },
  { kind: 'unreached' },
  { kind: 'cut' },
]

/** By endpoint, what the host may answer. */
const CODES: Readonly<Record<Endpoint, readonly ErrorCode[]>> = {
  upload: [
    'NO_AVAILABLE_IO_NODE',
    'STORAGE_LIMIT_REACHED',
    'DAILY_LIMIT_REACHED',
    'FILE_TOO_LARGE',
    'NOT_FOUND',
    'VALIDATION_ERROR',
    'INVALID_API_KEY',
  ],
  send: ['DIMENSION_MISMATCH', 'UNREADABLE_DIMENSION', 'NO_AVAILABLE_IO_NODE', 'FORBIDDEN', 'NOT_FOUND'],
  list: ['RATE_LIMITED', 'PLAN_NOT_SUPPORTED', 'INVALID_API_KEY'],
  delete: ['DELETE_FAILED', 'FORBIDDEN', 'PLAN_NOT_SUPPORTED', 'RATE_LIMITED'],
  create_album: ['RATE_LIMITED', 'FORBIDDEN', 'PLAN_NOT_SUPPORTED', 'INVALID_PARAMS'],
}

/** All that can go wrong with a request at an endpoint. */
export function faultsAt(endpoint: Endpoint): Fault[] {
  return [...KINDS, ...CODES[endpoint].map(code => ({ kind: 'refused' as const, code }))]
}

/** Like `b` of a proxy that turns pictures away. No seed draws so small a number. */
export const TWICE = 2

const ENDPOINTS: readonly Endpoint[] = ['send', 'delete', 'create_album', 'list', 'upload']

/** The faults that wait for their requests: each strikes so many of the next ones at its endpoint. */
export class Faults {
  readonly #waiting = new Map<Endpoint, { fault: Fault; left: number }[]>()

  /** The host refused an album: its images lie elsewhere from then on, and stay there. */
  albumRefused = false
  /** It refused to list as if its plan had no list. */
  listRefused = false

  /** What all requests to an endpoint are answered for a while; null: they are served. */
  closed: (typeof CLOSINGS)[number] | null = null
  /** The last of these. */
  lastClosed = this.closed
  /** How many were answered so, and how many others went wrong. */
  readonly struck = { closed: 0, others: 0 }

  clear(): void {
    this.#waiting.clear()
    this.closed = null
  }

  /** The host refuses all at an endpoint from now on. Returns it, for people. */
  close(a: number): string {
    this.closed = CLOSINGS[a % CLOSINGS.length]!
    this.lastClosed = this.closed
    const { endpoint, status, code } = this.closed
    return `the host refuses all at ${endpoint}: ${status} ${code}`
  }

  /** From raw numbers. Answers what it is, for people. */
  add(a: number, b: number): string {
    const endpoint = ENDPOINTS[a % 5]!
    const choice = (a >>> 3) % (KINDS.length + 3)
    const codes = CODES[endpoint]
    const fault = KINDS[choice] ?? { kind: 'refused' as const, code: codes[(a >>> 8) % codes.length]! }
    const left = 1 + (b % 3)
    this.#await(endpoint, fault, left)
    const what = fault.kind === 'refused' ? `refused ${fault.code}` : fault.kind
    return `the next ${left} at ${endpoint}: ${what}`
  }

  /** A proxy refuses pictures, or sends them twice. Answers it, for people. */
  turnAway(a: number, b: number): string {
    const times = 1 + (a % 12)
    if (b === TWICE) {
      this.#await('send', { kind: 'twice' }, times)
      return `a proxy sends the next ${times} pictures twice`
    }
    const left = b % 2 === 0 ? 'all' : 'part'
    this.#await('send', { kind: 'page', left }, times)
    return `a proxy refuses the next ${times} pictures, when ${left} has left`
  }

  #await(endpoint: Endpoint, fault: Fault, left: number): void {
    const waiting = this.#waiting.get(endpoint)
    if (waiting) waiting.push({ fault, left })
    else this.#waiting.set(endpoint, [{ fault, left }])
  }

  take(endpoint: Endpoint): Fault | null {
    if (this.closed?.endpoint === endpoint) {
      this.struck.closed++
      return { kind: 'closed', ...this.closed }
    }
    const waiting = this.#waiting.get(endpoint)
    const first = waiting?.[0]
    if (!first) return null
    if (--first.left === 0) waiting!.shift()
    this.struck.others++
    return this.strike(endpoint, first.fault)
  }

  protected strike(endpoint: Endpoint, fault: Fault): Fault {
    if (endpoint === 'create_album' && fault.kind === 'refused') this.albumRefused = true
    const code = fault.kind === 'refused' ? fault.code : null
    if (endpoint === 'list' && code === 'PLAN_NOT_SUPPORTED') this.listRefused = true
    return fault
  }
}
