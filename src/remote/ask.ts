import type { z } from 'zod'
import { API_KEY_HEADER, type Endpoint } from '../protocol/endpoints.ts'
import type { Address } from './address.ts'
import { attemptOf, COMMON_HEADERS, type Connection } from './connection.ts'
import type { Outcome } from './host.ts'

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
  /** Asked just before it leaves, each time. */
  mayGo?: () => boolean
  /** On a connection that carries nothing else. */
  apart?: boolean
}

export function ask<T>(
  { apiKey, secrets, answerLimitMs, gate, http }: Connection,
  { endpoint, method, below, path, json, schema, mayGo, apart = false }: Question<T>,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const address = { ...below, path: `${below.path.replace(/\/$/, '')}${path}` }
  const headers = { ...COMMON_HEADERS, [API_KEY_HEADER]: apiKey }
  const request =
    json === undefined
      ? { method, address, headers, apart }
      : {
          method,
          address,
          apart,
          headers: { ...headers, 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(json)),
        }
  const reading = { endpoint, schema, where: address.where, secrets }
  const send = async (onStart: () => void) =>
    attemptOf(reading, await http.exchange({ ...request, limitMs: answerLimitMs, onStart }, signal))
  return gate.pass(endpoint, signal, send, mayGo)
}
