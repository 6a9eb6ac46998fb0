import type { z } from 'zod'
import { API_KEY_HEADER, type Endpoint } from '../../protocol/endpoints.ts'
import type { Outcome } from '../host.ts'
import type { Address } from '../http/address.ts'
import { attemptOf, COMMON_HEADERS, type Connection } from '../http/connection.ts'
import type { HttpResult } from '../http/exchange.ts'
import { readAnswer } from '../http/read-answer.ts'

/** A request that carries the API key (§5.1), and nothing else than JSON. */
export interface Question<T> {
  endpoint: Endpoint
  method: 'GET' | 'POST' | 'DELETE'
  below: Address
  /** Below `below`, with its query. */
  path: string
  json?: unknown
  /** The answer of a success. */
  schema: z.ZodType<T>
  /** Whether a success can be this question's. */
  fits?: (answer: T) => boolean
  /** Asked just before it leaves, each time. */
  mayGo?: () => boolean
}

export function ask<T>(
  { apiKey, secrets, answerLimitMs, gate, http }: Connection,
  { endpoint, method, below, path, json, schema, fits, mayGo }: Question<T>,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const address = { ...below, path: `${below.path.replace(/\/$/, '')}${path}` }
  const headers = { ...COMMON_HEADERS, [API_KEY_HEADER]: apiKey }
  const request =
    json === undefined
      ? { method, address, headers }
      : {
          method,
          address,
          headers: { ...headers, 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(json)),
        }
  const reading = { endpoint, schema, where: address.where, secrets, ...(fits && { fits }) }
  // Nobody else is given the same credential. But a page does not say of which album it is, nor a deletion of what.
  const isOwn = endpoint === 'upload' && { isOwn: (answer: HttpResult) => readAnswer(reading, answer).ok }
  const send = async (onStart: () => void) =>
    attemptOf(reading, await http.exchange({ ...request, ...isOwn, limitMs: answerLimitMs, onStart }, signal))
  return gate.pass(endpoint, signal, send, mayGo)
}
