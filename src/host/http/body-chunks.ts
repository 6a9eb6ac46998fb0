import type { IncomingMessage } from 'node:http'
import { DECIDED_CODES } from '../../protocol/decisions.ts'
import { Refusal } from '../refusal.ts'

/**
 * A request's body as it comes in. Whoever stops reading early can still answer: a plain `for await` over the request
 * would close the connection. Refuses a body that ends before it should.
 */
export async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* incoming.iterator({ destroyOnReturn: false })
  } catch {
    throw new Refusal(DECIDED_CODES.badBody, 'The connection closed before the body had ended.')
  }
}
