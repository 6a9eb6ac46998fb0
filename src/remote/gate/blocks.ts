import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import type { Block, HostFailure, Remedy } from '../host.ts'

interface Shut {
  failure: HostFailure
  since: number
  /** Somebody has reason to try again, and nothing was asked since. */
  untried: boolean
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
    const shut = { since, untried: false }
    if (failure.remedy === 'key') {
      if (!this.#key || this.#key.untried) this.#key = { ...shut, failure }
    } else {
      // What a node says of the account holds for the credentials that lead there.
      const endpoint = failure.endpoint === 'send' ? 'upload' : failure.endpoint
      this.#shut.set(endpoint, { ...shut, failure: { ...failure, endpoint } })
    }
  }

  /** What every request to this endpoint is answered without being sent. */
  of(endpoint: Endpoint): HostFailure | null {
    const shut = this.#over(endpoint).find(({ untried }) => !untried)
    return shut ? { ...shut.failure, endpoint, repeated: true } : null
  }

  /** The next request may go. What it is answered decides whether the block is over. */
  open(endpoint: Endpoint): void {
    if (this.#key) this.#key.untried = true
    const shut = this.#shut.get(endpoint)
    if (shut) shut.untried = true
  }

  /** This endpoint did its work, or refused it for another reason: what was open to be tried is over. */
  worked(endpoint: Endpoint): void {
    for (const shut of this.#over(endpoint).filter(({ untried }) => untried))
      if (shut === this.#key) this.#key = null
      else this.#shut.delete(endpoint)
  }

  /** `untried`: with what was opened and not asked since. */
  list(untried?: 'untried'): Block[] {
    return [this.#key, ...ENDPOINTS.map(endpoint => this.#shut.get(endpoint))]
      .filter(shut => !!shut)
      .filter(shut => untried || !shut.untried)
      .map(({ failure: { endpoint, remedy, code, message }, since }) => ({
        endpoint,
        remedy,
        code,
        message,
        since,
      }))
  }

  /** What shuts this endpoint. */
  #over(endpoint: Endpoint): Shut[] {
    // A credential in hand needs no key (§5.3).
    return [endpoint === 'send' ? null : this.#key, this.#shut.get(endpoint)].filter(shut => !!shut)
  }
}
