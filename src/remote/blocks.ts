import { ENDPOINTS, type Endpoint } from '../protocol/endpoints.ts'
import type { Block, HostFailure, Remedy } from './host.ts'

interface Shut {
  failure: HostFailure
  since: number
}

const ACCOUNT: ReadonlySet<Remedy> = new Set<Remedy>(['quota', 'storage', 'plan', 'key'])

/** States of the account (§5, §8) that shut an endpoint until someone has reason to try again. */
export class Blocks {
  readonly #shut = new Map<Endpoint, Shut>()
  /** A refused key shuts all endpoints that ask for one. */
  #key: Shut | null = null

  /** Takes note of a failure, where it is of the account. */
  note(failure: HostFailure, since: number): void {
    if (!ACCOUNT.has(failure.remedy)) return
    if (failure.remedy === 'key') this.#key ??= { failure, since }
    else {
      // What a node says of the account holds for the credentials that lead there.
      const endpoint = failure.endpoint === 'send' ? 'upload' : failure.endpoint
      this.#shut.set(endpoint, { failure: { ...failure, endpoint }, since })
    }
  }

  /** What every request to this endpoint is answered without being sent. */
  of(endpoint: Endpoint): HostFailure | null {
    // A credential in hand needs no key (§5.3).
    const shut = (endpoint !== 'send' && this.#key) || this.#shut.get(endpoint)
    return shut ? { ...shut.failure, endpoint, repeated: true } : null
  }

  open(endpoint: Endpoint): void {
    this.#key = null
    this.#shut.delete(endpoint)
  }

  list(): Block[] {
    return [this.#key, ...ENDPOINTS.map(endpoint => this.#shut.get(endpoint))]
      .filter(shut => !!shut)
      .map(({ failure: { endpoint, remedy, code, message }, since }) => ({
        endpoint,
        remedy,
        code,
        message,
        since,
      }))
  }
}
