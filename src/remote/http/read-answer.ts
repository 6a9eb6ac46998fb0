import type { z } from 'zod'
import type { Endpoint } from '../../protocol/endpoints.ts'
import { failure as failureEnvelope } from '../../protocol/records.ts'
import { garbled, redirected, refused, unanswered } from '../failures.ts'
import type { HostFailure, Outcome } from '../host.ts'
import type { HttpResult } from './exchange.ts'

export interface Reading<T> {
  endpoint: Endpoint
  /** What the answer of a success looks like. */
  schema: z.ZodType<T>
  /** Whether a success can be this request's. */
  fits?(answer: T): boolean
  /** host:port. */
  where: string
  /** What may not stand in a message, should the host repeat it. */
  secrets: Iterable<string>
}

/** §1's envelopes: what a request came to. Whatever does not fit is a failure of the host. */
export function readAnswer<T>(reading: Reading<T>, result: HttpResult): Outcome<T> {
  const { endpoint, schema, where, secrets } = reading
  const failed = (failure: HostFailure): Outcome<T> => ({ ok: false, failure })
  if (result.kind !== 'answer') return failed(unanswered(endpoint, result))
  const { status, left } = result
  const misfit = (message: string) =>
    failed(garbled(endpoint, left, status, `${where} answered ${status} ${message}`))

  if (status >= 300 && status < 400) return failed(redirected(endpoint, left, status, where))
  const json = parsed(result.body)
  const failure = failureEnvelope.safeParse(json)
  if (failure.success) return failed(refused(endpoint, status, failure.data, secrets))
  // What stands before a host may say so in its own words.
  if (status === 429) return misfit('(too many requests); it is asked again later')
  if (status < 200 || status > 299)
    return misfit('in a form that is not of the interface; is the address of the host right?')
  const success = schema.safeParse(json)
  if (!success.success) {
    const at = success.error.issues[0]?.path.join('.')
    return misfit(
      `with ${at ? `a field that does not fit the interface: ${at}` : 'something else than the interface has'}`,
    )
  }
  if (reading.fits?.(success.data) === false) return misfit('with what another request was answered')
  // It claims to have what it can't have: half a picture may stand there now.
  if (left !== 'all')
    return failed(garbled(endpoint, 'all', status, `${where} answered before it had everything`))
  return { ok: true, value: success.data }
}

/** Undefined where the bytes are no JSON. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
