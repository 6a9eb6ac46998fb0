import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import type { Block, HostFailure, Remedy } from '../host.ts'

interface Shut {
  failure: HostFailure
  since: number
  /** The block was opened for a try, and no request has been answered since. */
  untried: boolean
}

const OF_ACCOUNT: ReadonlySet<Remedy> = new Set<Remedy>(['quota', 'storage', 'plan', 'key'])

/**
 * States of the account (§5, §8) that block an endpoint: quota or storage used up, an endpoint outside the plan, a
 * refused key. Requests to a blocked endpoint are answered without being sent, until somebody opens the block for a try.
 */
export class Blocks {
  readonly #shut = new Map<Endpoint, Shut>()
  /** A refused key blocks all endpoints that need the key. */
  #key: Shut | null = null

  /** Records a failure if it is a state of the account; ignores all other failures. */
  note(failure: HostFailure, since: number): void {
    if (!OF_ACCOUNT.has(failure.remedy)) return
    const shut = { since, untried: false }
    if (failure.remedy === 'key') {
      if (!this.#key || this.#key.untried) this.#key = { ...shut, failure }
    } else {
      // When an upload node says that the quota is used up, there is no point in asking for further credentials.
      const endpoint = failure.endpoint === 'send' ? 'upload' : failure.endpoint
      this.#shut.set(endpoint, { ...shut, failure: { ...failure, endpoint } })
    }
  }

  /** The answer to every request to this endpoint while it is blocked, else null. */
  of(endpoint: Endpoint): HostFailure | null {
    const shut = this.#over(endpoint).find(({ untried }) => !untried)
    return shut ? { ...shut.failure, endpoint, repeated: true } : null
  }

  /** Lets the next request to this endpoint be sent. Its answer decides whether the block is over. */
  open(endpoint: Endpoint): void {
    if (this.#key) this.#key.untried = true
    const shut = this.#shut.get(endpoint)
    if (shut) shut.untried = true
  }

  /** The endpoint did its work, or refused for a reason that is no block: blocks that were open for a try are over. */
  worked(endpoint: Endpoint): void {
    for (const shut of this.#over(endpoint).filter(({ untried }) => untried))
      if (shut === this.#key) this.#key = null
      else this.#shut.delete(endpoint)
  }

  /** All blocks. `untried`: also those that were opened for a try and not tried yet. */
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

  /** What blocks this endpoint: the key and its own block. */
  #over(endpoint: Endpoint): Shut[] {
    // Sending with a credential needs no key (§5.3).
    return [endpoint === 'send' ? null : this.#key, this.#shut.get(endpoint)].filter(shut => !!shut)
  }
}
