import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import type { Block, HostFailure, Remedy } from '../host.ts'

interface Shut {
  failure: HostFailure
  since: number
  /** Whether the block was opened for a try, and no request has been answered since. */
  untried: boolean
}

const OF_ACCOUNT: ReadonlySet<Remedy> = new Set<Remedy>(['quota', 'storage', 'plan', 'key'])

/** States of the account (§5, §8): quota or storage is used up, the plan lacks something, or the key is refused. Requests to a
 * blocked endpoint get the failure that blocked it, until somebody opens the block for a try. */
export class Blocks {
  /** The blocks by endpoint. 'key': the key was refused, which blocks all endpoints that need the key. */
  readonly #shut = new Map<Endpoint | 'key', Shut>()

  /** Records a block when the failure is a state of the account. Ignores all other failures. */
  note(failure: HostFailure, since: number): void {
    const { remedy } = failure
    if (!OF_ACCOUNT.has(remedy)) return
    if (remedy === 'key' && this.#shut.get('key')?.untried === false) return
    // When an upload node says that the quota is used up, step 1 is blocked, because a further credential would be useless.
    const endpoint = failure.endpoint === 'send' && remedy !== 'key' ? 'upload' : failure.endpoint
    const shut = { failure: { ...failure, endpoint }, since, untried: false }
    this.#shut.set(remedy === 'key' ? 'key' : endpoint, shut)
  }

  /** The failure that requests to this endpoint get while it is blocked; null when it is not blocked. */
  of(endpoint: Endpoint): HostFailure | null {
    if (this.#shut.size === 0) return null
    const shut = over(endpoint).map(name => this.#shut.get(name))
    const failure = shut.find(each => each?.untried === false)?.failure
    return failure ? { ...failure, endpoint, repeated: true } : null
  }

  /** Lets the next request to this endpoint be sent. Its answer decides whether the block is over. */
  open(endpoint: Endpoint): void {
    for (const shut of [this.#shut.get('key'), this.#shut.get(endpoint)]) if (shut) shut.untried = true
  }

  /** The endpoint succeeded, or refused for a reason that is no block. Ends the blocks that were opened for a try. */
  worked(endpoint: Endpoint): void {
    if (this.#shut.size === 0) return
    for (const name of over(endpoint)) if (this.#shut.get(name)?.untried) this.#shut.delete(name)
  }

  /** All blocks. `untried`: also blocks that were opened for a try, and that no request has tried yet. */
  list(untried?: 'untried'): Block[] {
    const all = (['key', ...ENDPOINTS] as const).flatMap(name => this.#shut.get(name) ?? [])
    return all
      .filter(shut => untried || !shut.untried)
      .map(({ failure, since }) => {
        const { endpoint, remedy, code, message } = failure
        return { endpoint, remedy, code, message, since }
      })
  }
}

/** The names under which a block of the endpoint may be recorded. Sending a picture needs no key, only a credential (§5.3). */
function over(endpoint: Endpoint): readonly (Endpoint | 'key')[] {
  return endpoint === 'send' ? ['send'] : ['key', endpoint]
}
